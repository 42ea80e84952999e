import { DiscardPolicy, RetentionPolicy, type StreamConfig } from '@nats-io/jetstream'
import { dayMs } from '../../../core/time.ts'

type MqttStream = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const dayNanos = dayMs * 1_000_000

/**
 * The server's own streams for MQTT. It makes them at the first session, without any bound, but uses
 * existing ones as they are; no device has a session before the gate accepts one. Devices do not
 * depend on them: messages retained or queued for a device may be lost. Sessions do not expire: the
 * server refuses one whose record is deleted while it is open.
 */
export const mqttStreams: readonly MqttStream[] = [
  {
    name: '$MQTT_rmsgs',
    subjects: ['$MQTT.rmsgs.>'],
    // until it restarts, the server remembers every topic ever retained, so their number has a bound
    discard: DiscardPolicy.New,
    max_msgs_per_subject: 1,
    max_msgs: 100_000,
    max_bytes: 256 * mebibyte,
    max_msg_size: 16 * kibibyte,
    max_age: 7 * dayNanos,
  },
  {
    name: '$MQTT_msgs',
    subjects: ['$MQTT.msgs.>'],
    retention: RetentionPolicy.Interest,
    max_msgs: 100_000,
    max_bytes: 64 * mebibyte,
    max_age: dayNanos,
  },
  {
    name: '$MQTT_sess',
    subjects: ['$MQTT.sess.>'],
    max_msgs_per_subject: 1,
    max_msg_size: 64 * kibibyte,
  },
  {
    name: '$MQTT_qos2in',
    subjects: ['$MQTT.qos2.in.>'],
    discard: DiscardPolicy.New,
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    max_bytes: 16 * mebibyte,
    max_age: dayNanos,
  },
  {
    name: '$MQTT_out',
    subjects: ['$MQTT.out.>'],
    retention: RetentionPolicy.Interest,
    max_bytes: 16 * mebibyte,
    max_age: dayNanos,
  },
]
