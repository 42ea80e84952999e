import { Counter, type Registry } from 'prom-client'

/** What an operator watches of the devices that fix their own topics. */
export function topicMetrics(registry: Registry) {
  return {
    messages: new Counter({
      name: 'airproof_gate_topic_messages_total',
      help: 'Messages on topics that devices fix: stored as a reading or part of one, or why not',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  }
}
