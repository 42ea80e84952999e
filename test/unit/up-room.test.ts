import { expect, test } from 'vitest'
import { judgeRoom } from '../../cli/up/room.ts'
import { isOutOfSpace } from '../../runtime/engines/nats-lines.ts'

const needsBytes = 100

test.each([
  [99, undefined, 'no-room'],
  [100, undefined, 'room-again'],
  [99, 0, 'no-room'],
  [100, 100_000 - 59_999, 'restarted-just-now'],
  [100, 100_000 - 60_000, 'room-again'],
])('with %i of 100 bytes left, last restarted at %s: %s', (roomBytes, restartedMs, verdict) =>
  expect(judgeRoom({ roomBytes, needsBytes, nowMs: 100_000, restartedMs })).toBe(verdict),
)

test.each([
  [
    "[1] 2025/12/16 21:21:26.548289 [ERR] JetStream failed to store a msg on stream 'A > b': write /d/msgs/77.blk: no space left on device",
    true,
  ],
  ['[1] 2025/12/16 21:21:26.548409 [ERR] JetStream out of File resources, will be DISABLED', true],
  ['[1] 2025/12/16 21:21:26.548409 [INF] Server is ready', false],
  [
    '[1] 2025/12/16 21:21:26.548409 [ERR] 127.0.0.1:5 - cid:9 - authentication error - User "no space left on device"',
    false,
  ],
  [
    '[1] 2025/12/16 21:21:26.548409 [WRN] [::1]:5 - mid:9 - JetStream out of File resources, no space left on device',
    false,
  ],
  ['[1] 2025/12/16 21:21:26.548409 [WRN] Error applying entries: last sequence mismatch', false],
])('%s reports a full disk: %s', (line, isNoRoom) => expect(isOutOfSpace(line)).toBe(isNoRoom))
