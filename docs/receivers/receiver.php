<?php
// WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php

/** The message, if it is at most five minutes old and one of its signatures is right. */
function verified(string $secret, string $body): ?array
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $sent = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (abs(time() - (int) $sent) > 300) {
        return null;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        }
    }
    return null;
}

// The signature is that of the bytes as they come.
$message = verified(getenv('WEBHOOK_SECRET'), file_get_contents('php://input'));
if ($message === null) {
    http_response_code(401);
    exit;
}
// An event may come twice, with the same webhook-id.
error_log("{$_SERVER['HTTP_WEBHOOK_ID']} {$message['type']} " . ($message['data']['source_id'] ?? ''));
http_response_code(204);
