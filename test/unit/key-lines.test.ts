import { expect, test } from 'vitest'
import { keyLines } from '../../cli/sensors/key.ts'
import type { Device } from '../../schemas/devices/sensor.ts'

const id = 'NGR-LOS-IKJ-017'

test('with a key the MQTT client id that the server lets in is printed', () => {
  expect(keyLines(id, 'aqs_secret', undefined).at(-1)).toBe(
    `If the device speaks MQTT, its client id must be ${id}, the same as the user.`,
  )
  const device: Device = {
    kind: 'airgradient',
    serial: 'aabbccddeeff',
    options: { client_id: 'ESP32_ddEEFF' },
  }
  expect(keyLines(id, 'aqs_secret', device).at(-1)).toBe(
    'If the device speaks MQTT, its client id must be ESP32_ddEEFF.',
  )
})
