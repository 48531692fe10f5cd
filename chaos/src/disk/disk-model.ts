import { dirname, join } from 'node:path'
import { TracedFile, type FileChange } from './traced-file.ts'
import { parseBytes, parseDescriptor, type SystemCall } from './system-call.ts'

export const FOLDER = 'folder'

/** The name changes that a sync of a file makes durable. */
export type NameSyncMode = 'journal' | 'file'

/** Contents of a folder, at any depth, by path. */
export type FileTree = Map<string, TracedFile | typeof FOLDER>

/** A change of names. */
interface NameChange {
  readonly kind: 'put' | 'remove' | 'move'
  readonly path: string
  readonly entry?: TracedFile | typeof FOLDER
  readonly to?: string
}

interface OpenFile {
  readonly file: TracedFile
  offset: number
  readonly appends: boolean
}

/**
 * A folder as its processes see it, and as its disk stores it. It models only the guarantees of a file system:
 *
 * - After `fsync` or `fdatasync` of a file, its bytes are on the disk as they were when the call began. Later bytes may
 * be   there in part. There is no order between files. - Name changes reach the disk in their order (a journal). A sync
 * of a folder persists the changes in it and all earlier   ones. A sync of a file persists either all changes so far
 * (`journal`, as in ext4 and XFS if the file has grown), or   those of this file and all earlier ones (`file`, as in
 * Btrfs).
 *
 * POSIX alone guarantees less, and LevelDB relies on the stronger guarantees.
 */
export class DiskModel {
  readonly #root: string
  readonly #namesSynced: NameSyncMode
  readonly #base: FileTree
  readonly #tree: FileTree
  readonly #journal: NameChange[] = []
  /** Number of name changes that are certainly on the disk. */
  #committed = 0
  readonly #open = new Map<number, OpenFile>()
  /** By descriptor: completes a sync that has begun. */
  readonly #syncing = new Map<number, () => void>()

  /** @param base initial contents of `root`, all of them on the disk */
  constructor(root: string, base: FileTree = new Map(), namesSynced: NameSyncMode = 'file') {
    this.#root = root
    this.#namesSynced = namesSynced
    this.#base = new Map(base)
    this.#tree = new Map(base)
  }

  /** The folder as processes see it. */
  get tree(): ReadonlyMap<string, TracedFile | typeof FOLDER> {
    return this.#tree
  }

  /** Number of name changes, and number of those that are certainly durable. */
  get names(): { readonly done: number; readonly committed: number } {
    return { done: this.#journal.length, committed: this.#committed }
  }

  /** Contents of the folder after only the first `names` name changes. */
  getTreeAfter(names: number): FileTree {
    const tree = new Map(this.#base)
    for (const naming of this.#journal.slice(0, names)) applyTo(tree, naming)
    return tree
  }

  /** Applies a system call of the traced processes. Calls outside this folder change nothing. */
  take(call: SystemCall): void {
    const { name, phase } = call
    if (name === 'fsync' || name === 'fdatasync') return this.#sync(call)
    if (phase === 'begun' || !(call.result >= 0)) return
    const act = CALLS[name]
    if (act) act(this.#hands, call)
    else if (call.args.some((arg) => this.#concerns(arg))) {
      throw new Error(`${name} of a file of the folder is not known to the model`)
    }
  }

  #concerns(arg: string): boolean {
    const path = arg.startsWith('"') ? parseBytes(arg).toString() : arg.includes('<') ? parseDescriptor(arg).path : ''
    return path.startsWith(this.#root)
  }

  /** A sync persists the state from its begin, once it has ended. */
  #sync({ phase, args, result }: SystemCall): void {
    const { fd, path } = parseDescriptor(args[0]!)
    if (!path.startsWith(this.#root)) return
    if (phase === 'begun') return void this.#syncing.set(fd, this.#createCommit(path))
    if (result === 0) this.#syncing.get(fd)?.()
    this.#syncing.delete(fd)
  }

  #createCommit(path: string): () => void {
    const entry = path === this.#root ? FOLDER : this.#tree.get(path)
    const concerns = (naming: NameChange) =>
      entry === FOLDER
        ? dirname(naming.path) === path || (naming.to !== undefined && dirname(naming.to) === path)
        : naming.entry === entry
    const isWhole =
      entry instanceof TracedFile && this.#namesSynced === 'journal' && entry.synced < entry.changes.length
    const names = isWhole ? this.#journal.length : this.#journal.findLastIndex(concerns) + 1
    const bytes = entry instanceof TracedFile ? entry.changes.length : 0
    return () => {
      this.#committed = Math.max(this.#committed, names)
      if (entry instanceof TracedFile) entry.synced = Math.max(entry.synced, bytes)
    }
  }

  #name(naming: NameChange): void {
    this.#journal.push(naming)
    applyTo(this.#tree, naming)
  }

  /** Effects of calls on a folder. */
  readonly #hands: FolderActions = {
    path: (at, text) => {
      const given = parseBytes(text).toString()
      const path = given.startsWith('/') ? given : join(parseDescriptor(at ?? '').path, given)
      return path.startsWith(`${this.#root}/`) ? path : undefined
    },
    open: (fd, path, flags) => {
      let entry = this.#tree.get(path)
      if (!entry) this.#name({ kind: 'put', path, entry: (entry = new TracedFile()) })
      if (entry === FOLDER) return
      if (flags.includes('O_TRUNC') && entry.size > 0) entry.changes.push({ size: 0 })
      this.#open.set(fd, { file: entry, offset: 0, appends: flags.includes('O_APPEND') })
    },
    opened: (text) => {
      const { fd, path } = parseDescriptor(text)
      return path.startsWith(`${this.#root}/`) ? this.#open.get(fd) : undefined
    },
    close: (text) => void this.#open.delete(parseDescriptor(text).fd),
    file: (path) => {
      const entry = this.#tree.get(path)
      return entry instanceof TracedFile ? entry : undefined
    },
    put: (path) => this.#name({ kind: 'put', path, entry: FOLDER }),
    remove: (path) => this.#name({ kind: 'remove', path, entry: this.#tree.get(path) }),
    move: (path, to) => this.#name({ kind: 'move', path, to, entry: this.#tree.get(path) }),
  }
}

function applyTo(tree: FileTree, { kind, path, to, entry }: NameChange): void {
  if (kind === 'put') return void tree.set(path, entry!)
  tree.delete(path)
  if (kind === 'move') tree.set(to!, entry!)
}

interface FolderActions {
  /**
   * A path inside the folder; `undefined` for one outside.
   * @param at the descriptor of the folder that it starts from
   */
  path(at: string | undefined, text: string): string | undefined
  open(fd: number, path: string, flags: string): void
  opened(descriptor: string): OpenFile | undefined
  close(descriptor: string): void
  file(path: string): TracedFile | undefined
  put(path: string): void
  remove(path: string): void
  move(path: string, to: string): void
}

function write({ file, appends }: OpenFile, at: number, bytes: Buffer): number {
  const start = appends ? file.size : at
  file.changes.push({ at: start, bytes } satisfies FileChange)
  return start + bytes.length
}

type CallHandler = (hands: FolderActions, call: SystemCall) => void

const createOpen =
  (at: number): CallHandler =>
  (hands, { args, result }) => {
    const path = hands.path(at > 0 ? args[0] : undefined, args[at]!)
    const flags = args[at + 1] ?? 'O_CREAT|O_TRUNC'
    // A file opened only for reading changes nothing, but its descriptor may be synced.
    if (path) hands.open(result, path, flags)
  }

const naming =
  (kind: 'put' | 'remove', at: number): CallHandler =>
  (hands, { args }) => {
    const path = hands.path(at > 0 ? args[0] : undefined, args[at]!)
    if (path) hands[kind](path)
  }

const createMove =
  (at: readonly [number, number]): CallHandler =>
  (hands, { args }) => {
    const [path, to] = at.map((i) => hands.path(i > 0 ? args[i - 1] : undefined, args[i]!))
    if (path && to) hands.move(path, to)
    else if (path ?? to) throw new Error('a rename into or out of the folder is not known to the model')
  }

const applyWrite: CallHandler = (hands, { args, result }) => {
  const opened = hands.opened(args[0]!)
  if (opened) opened.offset = write(opened, opened.offset, parseBytes(args[1]!).subarray(0, result))
}

const applyWriteAt: CallHandler = (hands, { args, result }) => {
  const opened = hands.opened(args[0]!)
  if (opened) write(opened, Number(args[3]), parseBytes(args[1]!).subarray(0, result))
}

const VECTOR = /iov_base=("[^"]*"(?:\.\.\.)?)/g

const applyWriteVector: CallHandler = (hands, { name, args, result }) => {
  const opened = hands.opened(args[0]!)
  if (!opened) return
  const parts = Array.from(args.join(',').matchAll(VECTOR), ([, text]) => parseBytes(text!))
  const bytes = Buffer.concat(parts).subarray(0, result)
  if (name === 'writev') opened.offset = write(opened, opened.offset, bytes)
  else write(opened, Number(args.at(-1)), bytes)
}

const CALLS: Readonly<Record<string, CallHandler>> = {
  open: createOpen(0),
  openat: createOpen(1),
  creat: createOpen(0),
  close: (hands, { args }) => hands.close(args[0]!),
  lseek(hands, { args, result }) {
    const opened = hands.opened(args[0]!)
    if (opened) opened.offset = result
  },
  write: applyWrite,
  pwrite64: applyWriteAt,
  writev: applyWriteVector,
  pwritev: applyWriteVector,
  ftruncate: (hands, { args }) => void hands.opened(args[0]!)?.file.changes.push({ size: Number(args[1]) }),
  truncate(hands, { args }) {
    const path = hands.path(undefined, args[0]!)
    if (path) hands.file(path)?.changes.push({ size: Number(args[1]) })
  },
  rename: createMove([0, 1]),
  renameat: createMove([1, 3]),
  renameat2: createMove([1, 3]),
  unlink: naming('remove', 0),
  unlinkat: naming('remove', 1),
  rmdir: naming('remove', 0),
  mkdir: naming('put', 0),
  mkdirat: naming('put', 1),
  // A file may be mapped for reading, but not for writing.
  mmap(hands, { args }) {
    const [, , protection = '', flags = '', fd = ''] = args
    if (protection.includes('PROT_WRITE') && flags.includes('MAP_SHARED') && fd !== '-1' && hands.opened(fd)) {
      throw new Error('a file of the folder is written through mapped memory, which the model does not see')
    }
  },
}
