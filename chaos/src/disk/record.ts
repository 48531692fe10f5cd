import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTraceReader, TRACED, type SystemCall } from './system-call.ts'

/** A record of what processes do to their files, kept by strace. */
export interface Recording {
  /** What the command has to be run under. */
  readonly under: readonly string[]
  /** Once all of them have ended: the calls that concern a folder, in the order in which they were done. */
  calls(folder: string): Promise<SystemCall[]>
  /** Removes what was kept. */
  remove(): void
}

/** More than the largest write: a text that is cut short is an error. */
const LONGEST = 64 * 1_024 * 1_024

/** Of all threads, by a process apart, which may be killed with them; with times, paths of descriptors, texts in hexadecimal. */
const HOW = `-f -D --quiet=all --seccomp-bpf -ttt -T -y -xx -s ${LONGEST} -e signal=none`.split(' ')

/** @throws Error where strace is not installed or may not be used */
export function createRecording(): Recording {
  const { status, error } = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'])
  if (status !== 0)
    throw new Error(`strace (a package of that name) is needed: ${error?.message ?? `it ended with ${status}`}`)
  const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-trace-'))
  const file = join(folder, 'calls')
  return {
    under: ['strace', ...HOW, '-e', `trace=${TRACED}`, '-o', file, '--'],
    async calls(about) {
      const name = hexOf(about)
      const read = createTraceReader()
      const calls: SystemCall[] = []
      for await (const line of createInterface({ input: createReadStream(file) })) {
        // What a thread resumes does not say what it is about, what it ends may free a descriptor.
        if (!line.includes(name) && !line.includes(' resumed>')) continue
        for (const call of read(line)) if (call.args.some((arg) => arg.includes(name))) calls.push(call)
      }
      return calls
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const hexOf = (text: string) =>
  Array.from(Buffer.from(text), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
