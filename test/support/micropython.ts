/** MicroPython itself: its WebAssembly port, in this process. It has files, but no sockets and no `os.urandom`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadMicroPython } from '@micropython/micropython-webassembly-pyscript'

export type MicroPython = {
  readonly run: (code: string) => void
  /** @param expression of Python, with the type of `T` as MicroPython gives it to JavaScript */
  readonly evaluate: <T extends string | number | boolean>(expression: string) => T
}

/** @param folder its programs can be imported */
export async function startMicroPython(folder: string): Promise<MicroPython> {
  const { FS, globals, runPython } = await loadMicroPython({
    // less than a board with Wi-Fi has
    heapsize: 64 * 1024,
    stdout: () => undefined,
  })
  for (const name of readdirSync(folder))
    FS.writeFile(`/${name}`, readFileSync(join(folder, name), 'utf8'))
  runPython('import sys\nsys.path.append("/")')
  return {
    run: (code) => runPython(code),
    evaluate: <T>(expression: string) => {
      runPython(`evaluated = ${expression}`)
      return globals.get('evaluated') as T
    },
  }
}
