// Sends bodies by java.net.HttpURLConnection, in JavaScript that runs in Java, where there is no compiler. Prints what it sees of each
// answer. Its arguments: streaming mode, url, then TIMES METHOD PATH TOKEN BYTES of each request.
var streaming = arguments[0], url = arguments[1];
var piece = java.lang.reflect.Array.newInstance(java.lang.Byte.TYPE, 1000);

function answerTo(method, path, token, size) {
  var connection = new java.net.URL(url + path).openConnection();
  connection.setRequestMethod(method);
  connection.setRequestProperty("X-Auth-Token", token);
  connection.setDoOutput(true);
  if (streaming === "chunked") {
    connection.setChunkedStreamingMode(0);
  } else {
    connection.setFixedLengthStreamingMode(java.lang.Integer.parseInt(size));
  }
  var body = connection.getOutputStream();
  for (var sent = 0; sent < size; sent += 1000) {
    body.write(piece);
  }
  body.close();
  var status = connection.getResponseCode();
  var answer = connection.getErrorStream();
  return {status: status, body: answer === null ? null : String(new java.lang.String(answer.readAllBytes(), "UTF-8"))};
}

for (var at = 2; at < arguments.length; at += 5) {
  for (var time = 0; time < arguments[at]; time++) {
    var seen;
    try {
      seen = answerTo(arguments[at + 1], arguments[at + 2], arguments[at + 3], arguments[at + 4]);
    } catch (error) {
      seen = {status: null, body: String(error)};
    }
    print(JSON.stringify(seen));
  }
}
