declare module '@micropython/micropython-webassembly-pyscript' {
  export function loadMicroPython(options: {
    readonly heapsize: number
    readonly stdout: (line: string) => void
  }): Promise<{
    readonly FS: { readonly writeFile: (path: string, content: string) => void }
    readonly globals: { readonly get: (name: string) => unknown }
    readonly runPython: (code: string) => void
  }>
}
