import { DiscardPolicy, RetentionPolicy, type StreamConfig } from '@nats-io/jetstream'
import { dayMs } from '../../core/time.ts'

type MqttStream = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const dayNanos = dayMs * 1_000_000

/**
 * The server's own streams for MQTT. It makes them at the first session, without any bound, but takes
 * them as they are; no device has a session before the gate lets one in. A device needs none of it:
 * what is retained or waits in them for a device may be lost. Sessions have no age: the server
 * refuses one whose record went while it was open.
 */
export const mqttStreams: readonly MqttStream[] = [
  {
    name: '$MQTT_rmsgs',
    subjects: ['$MQTT.rmsgs.>'],
    // the server remembers each topic that was ever kept until it restarts, so new ones must end
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
