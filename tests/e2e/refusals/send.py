"""Sends bodies in pieces by http.client, and prints what it sees of each answer: url, then lines of TIMES METHOD PATH TOKEN BYTES."""

import http.client
import json
import sys
import urllib.parse

PIECE = b" " * 1000

host = urllib.parse.urlsplit(sys.argv[1]).netloc
for line in sys.stdin:
    times, method, path, token, size = line.split()
    for _ in range(int(times)):
        connection = http.client.HTTPConnection(host)
        seen = {"status": None, "body": None}
        try:
            pieces = (PIECE for _ in range(int(size) // len(PIECE)))
            connection.request(method, path, body=pieces, headers={"X-Auth-Token": token}, encode_chunked=True)
            answer = connection.getresponse()
            seen = {"status": answer.status, "body": answer.read().decode()}
        except (OSError, http.client.HTTPException) as error:
            seen["body"] = repr(error)
        connection.close()
        print(json.dumps(seen))
