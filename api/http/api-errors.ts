/**
 * Every way in which a request to the API can fail: the code in its envelope, its status, and when.
 */
export const apiErrors = {
  bad_request: [400, 'the bytes are not an HTTP request with a `Host` header'],
  bad_encoding: [400, 'the address is not percent-encoded UTF-8'],
  bad_parameter: [
    400,
    'a parameter has a wrong value, is missing, or does not go with another one',
  ],
  unknown_parameter: [
    400,
    'a parameter that this address does not have; `details.known` lists those it has',
  ],
  repeated_parameter: [400, 'a parameter is given more than once'],
  bad_cursor: [
    400,
    'the cursor of `after` is refused; `details.reason`: `malformed`, `other_network` or `future` (the log does not have it yet: it was put back to an older state)',
  ],
  bad_idempotency_key: [400, 'the header `Idempotency-Key` is empty, too long or has spaces'],
  not_json: [400, 'the body is not a JSON object'],
  invalid_body: [400, 'fields of the body are wrong; `details.fields` lists all of them'],
  account_needed: [400, 'the dashboard’s own key must name the account that it acts for'],
  missing_key: [401, 'there is no header `Authorization: Bearer <API_KEY>`'],
  invalid_key: [
    401,
    '`details.reason`: `malformed`, `mistyped` (its check characters do not fit) or `unknown`',
  ],
  expired_key: [
    401,
    'the key has expired: 90 days after it was made, or sooner if its owner chose so',
  ],
  revoked_key: [401, 'the key was revoked, which counts everywhere within a second'],
  unknown_account: [401, 'the account of the key does not exist any more'],
  invalid_token: [
    401,
    'the `token` of a stream is wrong or older than 60 seconds: get another one with your key',
  ],
  premium_required: [403, 'webhooks belong to the premium tier'],
  not_found: [404, 'there is no such address'],
  sensor_not_found: [
    404,
    'there is no such sensor; `details.expected_format` is what an id looks like',
  ],
  sensor_ambiguous: [404, 'several sensors have this short id; `details.candidates` lists them'],
  area_not_found: [404, 'there is no such area; `/v1/areas` lists them'],
  reading_not_found: [404, 'the sensor has no reading at that time'],
  not_anchored_yet: [
    404,
    'the reading is not final on the chain yet; `details.expected_by` says when it should be',
  ],
  webhook_not_found: [404, 'your account has no such webhook'],
  delivery_not_found: [404, 'the webhook has no such delivery, or does not have it any more'],
  method_not_allowed: [405, 'the header `Allow` lists the methods that the address allows'],
  not_acceptable: [
    406,
    'no media type that `Accept` names, or no coding that `Accept-Encoding` names, is available; `details.available` lists those that are',
  ],
  too_slow: [408, 'the request took too long to arrive'],
  idempotency_key_used: [
    409,
    'the `Idempotency-Key` was used with another body, or its webhook is deleted',
  ],
  too_many_webhooks: [409, 'the account has as many webhooks as it may'],
  webhook_disabled: [409, 'the webhook is disabled: resume it first'],
  disabled_by_operator: [
    409,
    'the operator has disabled the webhook, and only the operator can enable it',
  ],
  other_hash: [409, 'the hash of the reading is not the one given in `hash`'],
  mismatch: [409, 'the reading is not what was anchored; `details.reason` names what does not fit'],
  body_too_large: [413, 'the body is longer than 64 KiB'],
  url_too_long: [414, 'the address is longer than 4,096 characters'],
  unsupported_media_type: [415, 'the body is not sent as JSON, or with a `Content-Encoding`'],
  quota_exceeded: [429, 'the requests of the day are used up'],
  too_many_requests: [429, 'the requests of the minute are used up'],
  too_many_streams: [429, 'the account has as many streams as it may'],
  too_much_unread: [429, 'the account reads its answers too slowly: 32 MiB of them are waiting'],
  headers_too_large: [431, 'the headers are longer than 16 KiB'],
  internal: [500, 'something failed on our side; our log has it under `request_id`'],
  history_unavailable: [503, 'the database is away; live answers still work'],
  archive_unavailable: [
    503,
    'readings of this period are only in the archive, which cannot be read; the message says why',
  ],
  keys_unknown: [503, 'which keys are revoked is not known right now'],
  quota_unknown: [503, 'the use of the account’s quota is not known right now'],
  log_unavailable: [503, 'the log of readings cannot be read right now'],
  stream_unavailable: [503, 'the stream cannot be opened yet'],
  overloaded: [503, 'too many requests wait, or too many streams are open'],
  took_too_long: [503, 'the answer was not made in time: ask for less, or try again'],
  proofs_unavailable: [503, 'the proofs cannot be read right now'],
  webhooks_unavailable: [503, 'webhooks cannot be read or written right now'],
  deliveries_unavailable: [503, 'the process that delivers does not answer right now'],
  webhook_busy: [503, 'other requests keep changing the webhook'],
} as const satisfies Readonly<Record<string, readonly [status: number, when: string]>>

export type ApiErrorCode = keyof typeof apiErrors
