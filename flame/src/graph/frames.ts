/** Origin of a frame: this repository, a package, Node's own JavaScript, or native code (C++, V8, the kernel). */
export type Category = 'app' | 'dependency' | 'node' | 'native'

/** A function, regardless of its caller. Its file contains no path of the machine. */
export interface StackFrame {
  readonly name: string
  /** Path in the repository, `package/path` for dependencies, or `node:module`; empty if there is none. */
  readonly file: string
  /** Line number from 1; 0 if there is none. */
  readonly line: number
  readonly category: Category
}

/** A function in the form of V8's profilers. */
export interface CallFrame {
  readonly functionName: string
  readonly scriptId: string
  readonly url: string
  /** Line number from 0; -1 if there is none. */
  readonly lineNumber: number
}

const NO_SCRIPT = '0'
const GENERATED_CODE = 'generated code'

/** Converts a function of V8's profilers. @param root path of the repository, with a `/` at its end */
export function toFrame({ functionName, scriptId, url, lineNumber }: CallFrame, root: string): StackFrame {
  const line = lineNumber + 1
  const name = functionName || '(anonymous)'
  const path = url.startsWith('file://') ? decodeURIComponent(new URL(url).pathname) : url
  if (path.startsWith('node:')) return { name, file: path, line, category: 'node' }
  if (path.startsWith('wasm:')) return { name, file: 'WebAssembly', line: 0, category: 'native' }
  // The function was created with `new Function`, as by routers, validators and serializers.
  if (path === '' && scriptId !== NO_SCRIPT) return { name, file: GENERATED_CODE, line, category: 'dependency' }
  if (path === '') return { name, file: '', line: 0, category: 'native' }
  const packaged = path.lastIndexOf('/node_modules/')
  if (packaged >= 0) {
    return { name, file: path.slice(packaged + '/node_modules/'.length), line, category: 'dependency' }
  }
  if (path.startsWith(root)) return { name, file: path.slice(root.length), line, category: 'app' }
  return { name, file: path.slice(path.lastIndexOf('/') + 1), line, category: 'app' }
}

/** Returns a key that is equal for equal functions. */
export const getKey = ({ name, file, line }: StackFrame) => `${name}\n${file}\n${line}`

/** Returns the origin of a function: the package, the module of Node, or the file in this repository. */
export function getHome({ file, category, name }: StackFrame): string {
  if (category === 'native') return file || name
  if (category !== 'dependency') return file
  const [scope, rest] = file.split('/')
  return scope!.startsWith('@') ? `${scope}/${rest}` : scope!
}
