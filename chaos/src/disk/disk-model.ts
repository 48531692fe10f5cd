import { dirname, join } from 'node:path'
import { TracedFile, type FileChange } from './traced-file.ts'
import { parseBytes, parseDescriptor, type SystemCall } from './system-call.ts'

export const FOLDER = 'folder'

/**
 * Name changes that a sync of a file makes durable: all earlier ones (`journal`), or those up to the last one of that
 * file (`file`).
 */
export type NameSyncMode = 'journal' | 'file'

/** Contents of a folder, at any depth, by path. */
export type FileTree = Map<string, TracedFile | typeof FOLDER>

/** A change of names: a file or folder is created, removed, or renamed to `to`. */
interface NameChange {
  readonly kind: 'put' | 'remove' | 'move'
  readonly path: string
  readonly entry?: TracedFile | typeof FOLDER
  readonly to?: string
}

/** An open file descriptor. */
interface OpenFile {
  readonly file: TracedFile
  offset: number
  readonly appends: boolean
}

/**
 * A folder as its processes see it, and as its disk stores it. It models only the guarantees of a file system:
 *
 * - After `fsync` or `fdatasync` of a file, its bytes are on the disk as they were when the call began. Some of the
 *   later bytes may also be on the disk. There is no order between files.
 * - Name changes reach the disk in their order (a journal). A sync of a folder makes the name changes in it durable,
 *   and all earlier ones. A sync of a file makes all earlier name changes durable (`journal`, as in ext4 and XFS if the
 *   file has changed since its last sync), or only those up to the last one of this file (`file`, as in Btrfs).
 *
 * POSIX alone guarantees less, and LevelDB relies on the stronger guarantees.
 */
export class DiskModel {
  readonly #root: string
  readonly #nameSyncMode: NameSyncMode
  readonly #base: FileTree
  readonly #tree: FileTree
  /** All name changes, in their order. */
  readonly #journal: NameChange[] = []
  /** Number of name changes that are certainly on the disk. */
  #committed = 0
  /** Open files by descriptor. */
  readonly #open = new Map<number, OpenFile>()
  /** Functions by descriptor that complete a sync that has begun. */
  readonly #syncing = new Map<number, () => void>()

  /** @param base initial contents of `root`, all of them on the disk */
  constructor(root: string, base: FileTree = new Map(), nameSyncMode: NameSyncMode = 'file') {
    this.#root = root
    this.#nameSyncMode = nameSyncMode
    this.#base = new Map(base)
    this.#tree = new Map(base)
  }

  /** The contents as processes see them. */
  get tree(): ReadonlyMap<string, TracedFile | typeof FOLDER> {
    return this.#tree
  }

  /** Number of name changes, and number of those that are certainly durable. */
  get nameChanges(): { readonly done: number; readonly committed: number } {
    return { done: this.#journal.length, committed: this.#committed }
  }

  /** Returns the contents after only the first `count` name changes. */
  getTreeAfter(count: number): FileTree {
    const tree = new Map(this.#base)
    for (const change of this.#journal.slice(0, count)) applyTo(tree, change)
    return tree
  }

  /**
   * Applies a system call of the traced processes. Calls for other folders have no effect.
   * @throws Error if the call changes the folder in a way that the model does not support
   */
  apply(call: SystemCall): void {
    const { name, phase } = call
    if (name === 'fsync' || name === 'fdatasync') return this.#sync(call)
    if (phase === 'begun' || !(call.result >= 0)) return
    const act = CALLS[name]
    if (act) act(this.#actions, call)
    else if (call.args.some((arg) => this.#affects(arg))) {
      throw new Error(`the model does not support ${name} of a file of the folder`)
    }
  }

  #affects(arg: string): boolean {
    const path = arg.startsWith('"') ? parseBytes(arg).toString() : arg.includes('<') ? parseDescriptor(arg).path : ''
    return path.startsWith(this.#root)
  }

  /** Applies a sync. When it has ended, the state that existed when it began is durable. */
  #sync({ phase, args, result }: SystemCall): void {
    const { fd, path } = parseDescriptor(args[0]!)
    if (!path.startsWith(this.#root)) return
    if (phase === 'begun') return void this.#syncing.set(fd, this.#createCommit(path))
    if (result === 0) this.#syncing.get(fd)?.()
    this.#syncing.delete(fd)
  }

  /** Returns a function that makes the current state of a file or folder durable. */
  #createCommit(path: string): () => void {
    const entry = path === this.#root ? FOLDER : this.#tree.get(path)
    const affects = (change: NameChange) =>
      entry === FOLDER
        ? dirname(change.path) === path || (change.to !== undefined && dirname(change.to) === path)
        : change.entry === entry
    const isWholeJournal =
      entry instanceof TracedFile && this.#nameSyncMode === 'journal' && entry.synced < entry.changes.length
    const names = isWholeJournal ? this.#journal.length : this.#journal.findLastIndex(affects) + 1
    const bytes = entry instanceof TracedFile ? entry.changes.length : 0
    return () => {
      this.#committed = Math.max(this.#committed, names)
      if (entry instanceof TracedFile) entry.synced = Math.max(entry.synced, bytes)
    }
  }

  #changeNames(change: NameChange): void {
    this.#journal.push(change)
    applyTo(this.#tree, change)
  }

  /** Effects of system calls on the model. */
  readonly #actions: FolderActions = {
    path: (at, text) => {
      const given = parseBytes(text).toString()
      const path = given.startsWith('/') ? given : join(parseDescriptor(at ?? '').path, given)
      return path.startsWith(`${this.#root}/`) ? path : undefined
    },
    open: (fd, path, flags) => {
      let entry = this.#tree.get(path)
      if (!entry) this.#changeNames({ kind: 'put', path, entry: (entry = new TracedFile()) })
      if (entry === FOLDER) return
      if (flags.includes('O_TRUNC') && entry.size > 0) entry.changes.push({ size: 0 })
      this.#open.set(fd, { file: entry, offset: 0, appends: flags.includes('O_APPEND') })
    },
    getOpenFile: (text) => {
      const { fd, path } = parseDescriptor(text)
      return path.startsWith(`${this.#root}/`) ? this.#open.get(fd) : undefined
    },
    close: (text) => void this.#open.delete(parseDescriptor(text).fd),
    file: (path) => {
      const entry = this.#tree.get(path)
      return entry instanceof TracedFile ? entry : undefined
    },
    put: (path) => this.#changeNames({ kind: 'put', path, entry: FOLDER }),
    remove: (path) => this.#changeNames({ kind: 'remove', path, entry: this.#tree.get(path) }),
    move: (path, to) => this.#changeNames({ kind: 'move', path, to, entry: this.#tree.get(path) }),
  }
}

function applyTo(tree: FileTree, { kind, path, to, entry }: NameChange): void {
  if (kind === 'put') return void tree.set(path, entry!)
  tree.delete(path)
  if (kind === 'move') tree.set(to!, entry!)
}

/** Actions by which the handlers of system calls change the model. */
interface FolderActions {
  /**
   * Returns the absolute path; undefined if it is outside of the folder.
   * @param at descriptor of the folder to which a relative path belongs
   * @param text the path as in the trace
   */
  path(at: string | undefined, text: string): string | undefined
  open(fd: number, path: string, flags: string): void
  /** Returns the open file; undefined if it is outside of the folder. */
  getOpenFile(descriptor: string): OpenFile | undefined
  close(descriptor: string): void
  /** Returns the file at a path. */
  file(path: string): TracedFile | undefined
  /** Creates a folder. */
  put(path: string): void
  remove(path: string): void
  move(path: string, to: string): void
}

/** Writes bytes. @returns the offset after them */
function write({ file, appends }: OpenFile, at: number, bytes: Buffer): number {
  const start = appends ? file.size : at
  file.changes.push({ at: start, bytes } satisfies FileChange)
  return start + bytes.length
}

type CallHandler = (folder: FolderActions, call: SystemCall) => void

/** @param at index of the path in the arguments */
const createOpen =
  (at: number): CallHandler =>
  (folder, { args, result }) => {
    const path = folder.path(at > 0 ? args[0] : undefined, args[at]!)
    const flags = args[at + 1] ?? 'O_CREAT|O_TRUNC'
    // A file opened only for reading changes nothing, but its descriptor may be synced.
    if (path) folder.open(result, path, flags)
  }

const createNameHandler =
  (kind: 'put' | 'remove', at: number): CallHandler =>
  (folder, { args }) => {
    const path = folder.path(at > 0 ? args[0] : undefined, args[at]!)
    if (path) folder[kind](path)
  }

const createMove =
  (at: readonly [number, number]): CallHandler =>
  (folder, { args }) => {
    const [path, to] = at.map((i) => folder.path(i > 0 ? args[i - 1] : undefined, args[i]!))
    if (path && to) folder.move(path, to)
    else if (path ?? to) throw new Error('the model does not support a rename into or out of the folder')
  }

const applyWrite: CallHandler = (folder, { args, result }) => {
  const opened = folder.getOpenFile(args[0]!)
  if (opened) opened.offset = write(opened, opened.offset, parseBytes(args[1]!).subarray(0, result))
}

const applyWriteAt: CallHandler = (folder, { args, result }) => {
  const opened = folder.getOpenFile(args[0]!)
  if (opened) write(opened, Number(args[3]), parseBytes(args[1]!).subarray(0, result))
}

const VECTOR = /iov_base=("[^"]*"(?:\.\.\.)?)/g

const applyWriteVector: CallHandler = (folder, { name, args, result }) => {
  const opened = folder.getOpenFile(args[0]!)
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
  close: (folder, { args }) => folder.close(args[0]!),
  lseek(folder, { args, result }) {
    const opened = folder.getOpenFile(args[0]!)
    if (opened) opened.offset = result
  },
  write: applyWrite,
  pwrite64: applyWriteAt,
  writev: applyWriteVector,
  pwritev: applyWriteVector,
  ftruncate: (folder, { args }) => void folder.getOpenFile(args[0]!)?.file.changes.push({ size: Number(args[1]) }),
  truncate(folder, { args }) {
    const path = folder.path(undefined, args[0]!)
    if (path) folder.file(path)?.changes.push({ size: Number(args[1]) })
  },
  rename: createMove([0, 1]),
  renameat: createMove([1, 3]),
  renameat2: createMove([1, 3]),
  unlink: createNameHandler('remove', 0),
  unlinkat: createNameHandler('remove', 1),
  rmdir: createNameHandler('remove', 0),
  mkdir: createNameHandler('put', 0),
  mkdirat: createNameHandler('put', 1),
  // A file may be mapped for reading, but not for writing.
  mmap(folder, { args }) {
    const [, , protection = '', flags = '', fd = ''] = args
    if (protection.includes('PROT_WRITE') && flags.includes('MAP_SHARED') && fd !== '-1' && folder.getOpenFile(fd)) {
      throw new Error('the model does not support a file of the folder that is mapped for writing')
    }
  },
}
