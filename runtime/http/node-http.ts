/**
 * `node:http` for modules: an `import` of it reads all that it exports, and one of these, `WebSocket`,
 * loads the whole of Node's `fetch`. That was 40 ms at every start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
