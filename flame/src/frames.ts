/** Origin of a frame: this repository, a package, Node's own JavaScript, or native code (C++, V8, the kernel). */
export type Category = 'app' | 'dependency' | 'node' | 'native'

/** A function, independent of its caller. Contains no name of the machine. */
export interface StackFrame {
  readonly name: string
  /** Relative to the repository, `package/path` for dependencies, `node:module`; empty if there is none. */
  readonly file: string
  /** From 1; 0 if there is none. */
  readonly line: number
  readonly category: Category
}

/** A function in the form of V8's profilers. */
export interface CallFrame {
  readonly functionName: string
  readonly scriptId: string
  readonly url: string
  /** From 0; -1 if there is none. */
  readonly lineNumber: number
}

const NO_SCRIPT = '0'
const GENERATED_CODE = 'generated code'

/** @param root the repository's folder as a path that ends with `/` */
export function toFrame({ functionName, scriptId, url, lineNumber }: CallFrame, root: string): StackFrame {
  const line = lineNumber + 1
  const name = functionName || '(anonymous)'
  const path = url.startsWith('file://') ? decodeURIComponent(new URL(url).pathname) : url
  if (path.startsWith('node:')) return { name, file: path, line, category: 'node' }
  if (path.startsWith('wasm:')) return { name, file: 'WebAssembly', line: 0, category: 'native' }
  // Created with `new Function`, as routers, validators and serialisers do.
  if (path === '' && scriptId !== NO_SCRIPT) return { name, file: GENERATED_CODE, line, category: 'dependency' }
  if (path === '') return { name, file: '', line: 0, category: 'native' }
  const packaged = path.lastIndexOf('/node_modules/')
  if (packaged >= 0) {
    return { name, file: path.slice(packaged + '/node_modules/'.length), line, category: 'dependency' }
  }
  if (path.startsWith(root)) return { name, file: path.slice(root.length), line, category: 'app' }
  return { name, file: path.slice(path.lastIndexOf('/') + 1), line, category: 'app' }
}

/** Equal for equal functions. */
export const getKey = ({ name, file, line }: StackFrame) => `${name}\n${file}\n${line}`

/** The owner of a file: its package, Node's module, or the file itself. */
export function getHome({ file, category, name }: StackFrame): string {
  if (category === 'native') return file || name
  if (category !== 'dependency') return file
  const [scope, rest] = file.split('/')
  return scope!.startsWith('@') ? `${scope}/${rest}` : scope!
}
