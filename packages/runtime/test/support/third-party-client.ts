import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasExited } from '../../src/async/has-exited.ts'
import { createTemporaryFolder } from './temporary-folder.ts'
import { onFileFinished } from './on-file-finished.ts'

// Runtimes of clients in other languages. `scripts/skip-missing-programs.ts` knows the messages of missing ones:
// their tests are skipped, but fail on CI.

/** Time-out of a hook that prepares runtimes: it downloads and compiles (ms). */
export const PREPARATION_TIMEOUT_MS = 600_000

/** Runs a program to its end. @returns its output. @throws Error with its output if it fails */
export async function runProgram(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const options = { cwd, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }, maxBuffer: 2 ** 27 }
  try {
    return (await promisify(execFile)(program, args, options)).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** @throws Error that counts as a missing program if the command fails */
export async function requireProgram(name: string, program: string, ...args: string[]): Promise<void> {
  await runProgram(program, args).catch((error: unknown) => {
    throw new Error(`${name} is needed`, { cause: error })
  })
}

/** Creates an environment of Python with packages from PyPI, such as `requests==2.32.5`. @returns path of its Python */
export async function createPythonEnvironment(packages: readonly string[]): Promise<string> {
  const version = 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)'
  await requireProgram('python3 with venv (3.11 or later)', 'python3', '-c', version)
  const folder = join(createTemporaryFolder(), 'venv')
  await runProgram('python3', ['-m', 'venv', folder])
  const python = join(folder, 'bin', 'python')
  if (packages.length > 0) await runProgram(python, ['-m', 'pip', 'install', '--quiet', ...packages])
  return python
}

/** Compiles a Go program. @param folder has the `go.mod`. @returns path of the program */
export async function buildGoProgram(folder: string): Promise<string> {
  await requireProgram('go', 'go', 'version')
  const program = join(createTemporaryFolder(), 'client')
  await runProgram('go', ['build', '-buildvcs=false', '-o', program, '.'], folder)
  return program
}

/** Yields the lines of a text. Those of `node:readline` also end at U+2028, which JSON does not escape. */
async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

/** A client that reads a command per line, as JSON, and writes a reply per line. */
export class ThirdPartyClient {
  /** Lines that have not been read. */
  readonly #lines: AsyncIterator<string>
  readonly #child: ChildProcessWithoutNullStreams
  #errors = ''

  constructor(command: readonly [program: string, ...args: string[]]) {
    const [program, ...args] = command
    this.#child = spawn(program, args)
    this.#child.stderr.on('data', (text) => (this.#errors += text))
    // A client that ends early fails the next `read`.
    this.#child.stdin.on('error', () => {})
    this.#lines = readLines(this.#child.stdout.setEncoding('utf8'))
    onFileFinished(() => this.#child.kill('SIGKILL'))
  }

  /** Reads the next line. @throws Error with the errors of the client if it has ended */
  async read(): Promise<any> {
    const { value, done } = await this.#lines.next()
    if (!done) return JSON.parse(value)
    if (!hasExited(this.#child)) await once(this.#child, 'exit')
    throw new Error(`the client has ended: ${this.#errors}`)
  }

  /** Sends a command, and reads its reply. */
  async call(command: Readonly<Record<string, unknown>>): Promise<any> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`)
    return this.read()
  }

  /** Ends the client. */
  end(): void {
    this.#child.kill()
  }
}
