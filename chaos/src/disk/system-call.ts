/** A system call on a file, reported at its begin and again at its return. */
export interface SystemCall {
  readonly phase: 'begun' | 'ended'
  readonly name: string
  /** As `strace -xx` writes them. */
  readonly args: readonly string[]
  /** Return value; NaN at the begin. Negative: the call failed and did nothing. */
  readonly result: number
  /** Seconds since 1970, of this phase. */
  readonly at: number
}

/** All calls that change a folder or make it durable, and calls that would do so without the model's knowledge. */
export const TRACED_CALLS =
  'open,openat,creat,close,lseek,dup,dup2,dup3,' +
  'write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,' +
  'rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,' +
  'sendfile,copy_file_range,splice,mmap,fsync,fdatasync,sync,syncfs,sync_file_range,msync'

const LINE = /^(\d+) +(\d+\.\d+) (.*)$/s
const WHOLE_CALL = /^(\w+)\((.*)\) += (-?\d+|0x[\da-f]+|\?).*?(?: <(\d+\.\d+)>)?$/s
const UNFINISHED = ' <unfinished ...>'
const RESUMED = /^<\.\.\. (\w+) resumed>/

/** Parses the lines of `strace -f -ttt -T -y -xx`. Lines of several threads interleave. */
export function createTraceReader(): (line: string) => SystemCall[] {
  /** The begun call of each thread. */
  const begun = new Map<string, string>()

  return (line) => {
    const [, thread, time, text] = LINE.exec(line) ?? []
    if (!thread || !text) return []
    const at = Number(time)
    if (text.endsWith(UNFINISHED)) {
      const start = text.slice(0, -UNFINISHED.length)
      begun.set(thread, start)
      const open = start.indexOf('(')
      return [{ phase: 'begun', name: start.slice(0, open), args: split(start.slice(open + 1)), result: NaN, at }]
    }
    const resumed = RESUMED.exec(text)
    const whole = resumed ? (begun.get(thread) ?? '') + text.slice(resumed[0].length) : text
    begun.delete(thread)
    const [, name, args, result, took] = WHOLE_CALL.exec(whole) ?? []
    // A signal, the end of a thread, or the end of a call whose begin was omitted.
    if (!name) return []
    const call = { name, args: split(args!), result: Number(result) }
    // Its line has the time of its end.
    if (resumed) return [{ ...call, phase: 'ended', at }]
    return [
      { ...call, phase: 'begun', result: NaN, at },
      { ...call, phase: 'ended', at: at + Number(took ?? 0) },
    ]
  }
}

// Texts are hexadecimal, so a comma always separates arguments.
const split = (args: string) => (args === '' ? [] : args.split(/, ?/))

/** The bytes of a text, `"\x61\x62"`. @throws Error if strace truncated it */
export function parseBytes(text: string): Buffer {
  if (!text.endsWith('"')) throw new Error('the trace holds only the beginning of what was written')
  return Buffer.from(text.slice(1, -1).replaceAll('\\x', ''), 'hex')
}

const DESCRIPTOR = /^(\d+|AT_FDCWD)(?:<(.*)>)?$/

/** The number and path of a descriptor, `3<\x2f\x61>`. */
export function parseDescriptor(text: string): { fd: number; path: string } {
  const [, fd, path = ''] = DESCRIPTOR.exec(text) ?? []
  return { fd: Number(fd), path: Buffer.from(path.replaceAll('\\x', ''), 'hex').toString() }
}
