#!/usr/bin/env node
// A NATS server that greets, and at once finds no space to store. Called as `-c CONFIG -P PID_FILE`.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

const config = readFileSync(process.argv[3], 'utf8')
const port = Number(/listen: "127\.0\.0\.1:(\d+)"/.exec(config)?.[1])
const line = "[ERR] JetStream failed to store a msg on stream 'A > B': no space left on device"
createServer((socket) => {
  socket.on('error', () => undefined)
  socket.end('INFO {}\r\n')
}).listen(port, '127.0.0.1', () => {
  for (let i = 0; i < 3; i++) console.log(`[1] 2026/11/21 08:00:00.00000${i} ${line}`)
})
process.on('SIGTERM', () => process.exit(0))
