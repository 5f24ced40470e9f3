"""What no setting of schemathesis.toml can say."""

import schemathesis

# Statuses that only requests with these headers have.
CONDITIONS = {304: "If-None-Match", 412: "If-Match", 422: "Idempotency-Key"}


@schemathesis.check
def conditions_were_sent(ctx, response, case):
    header = CONDITIONS.get(response.status_code)
    assert header is None or header in response.request.headers, f"{response.status_code} without {header}"


@schemathesis.hook
def filter_headers(context, headers):
    # An empty header is no coding, and accepted, which an enumeration cannot say. No body is compressed.
    return headers.get("Content-Encoding", "identity").strip() not in ("", "gzip")
