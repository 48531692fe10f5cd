import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { DiskModel, FOLDER, type NameSyncMode } from '../src/disk/disk-model.ts'
import { writeCrashImage, createCrashImage, readTree } from '../src/disk/power-cut.ts'
import { getContent, TracedFile } from '../src/disk/traced-file.ts'
import { createTraceReader, type SystemCall } from '../src/disk/system-call.ts'
import { createRandom } from '../src/random.ts'

const ROOT = '/data'

/** A disk, and the calls of a process that uses it. */
function createTracedProcess(disk: DiskModel) {
  const hex = (text: string) =>
    Array.from(Buffer.from(text), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
  const text = (value: string) => `"${hex(value)}"`
  const call = (name: string, args: string[], result = 0) => {
    const one = { name, args, at: 0 }
    disk.apply({ ...one, phase: 'begun', result: NaN })
    disk.apply({ ...one, phase: 'ended', result })
  }
  const fd = (number: number, path: string) => `${number}<${hex(`${ROOT}/${path}`)}>`
  return {
    open: (number: number, path: string, flags = 'O_WRONLY|O_CREAT|O_TRUNC') =>
      call('openat', [`AT_FDCWD<${hex('/')}>`, text(`${ROOT}/${path}`), flags], number),
    write: (number: number, path: string, value: string) =>
      call('write', [fd(number, path), text(value), String(value.length)], value.length),
    sync: (number: number, path: string) => call('fdatasync', [fd(number, path)]),
    syncFolder: (number: number) => call('fsync', [`${number}<${hex(ROOT)}>`]),
    rename: (from: string, to: string) => call('rename', [text(`${ROOT}/${from}`), text(`${ROOT}/${to}`)]),
    unlink: (path: string) => call('unlink', [text(`${ROOT}/${path}`)]),
    mmap: (number: number, path: string) =>
      call('mmap', ['NULL', '1', 'PROT_READ|PROT_WRITE', 'MAP_SHARED', fd(number, path), '0'], 1),
    begin: (name: string, number: number, path: string) =>
      disk.apply({ phase: 'begun', name, args: [fd(number, path)], result: NaN, at: 0 }),
    end: (name: string, number: number, path: string) =>
      disk.apply({ phase: 'ended', name, args: [fd(number, path)], result: 0, at: 0 }),
  }
}

/** All possible crash images, each once: files with their text, by name. */
function listCrashImages(
  make: (files: ReturnType<typeof createTracedProcess>) => void,
  names: NameSyncMode = 'file',
): Record<string, string>[] {
  const found = new Map<string, Record<string, string>>()
  for (let seed = 0; seed < 400; seed++) {
    const disk = new DiskModel(ROOT, new Map(), names)
    make(createTracedProcess(disk))
    const remains = [...createCrashImage(disk, createRandom(String(seed)))]
    const left = Object.fromEntries(remains.map(([path, bytes]) => [path.slice(ROOT.length + 1), bytes!.toString()]))
    found.set(JSON.stringify(left), left)
  }
  return [...found.values()]
}

it('retains synced bytes, and any prefix of unsynced ones', () => {
  const left = listCrashImages((files) => {
    files.open(3, 'a')
    files.write(3, 'a', '12')
    files.sync(3, 'a')
    files.write(3, 'a', '34')
  })
  const texts = left.map(({ a }) => a)
  expect(texts).toContain('12')
  expect(texts).toContain('123')
  expect(texts).toContain('1234')
  expect(texts).toContain('12\0\0')
  for (const text of texts) expect(text).toMatch(/^12(3|\0)?(4|\0)?$/)
})

it('a sync does not cover bytes written after its begin', () => {
  const left = listCrashImages((files) => {
    files.open(3, 'a')
    files.write(3, 'a', '1')
    files.begin('fsync', 3, 'a')
    files.write(3, 'a', '2')
    files.end('fsync', 3, 'a')
  })
  expect(left.map(({ a }) => a)).toContain('1')
})

it('an unfinished sync has no effect', () => {
  const left = listCrashImages((files) => {
    files.open(3, 'a')
    files.write(3, 'a', '1')
    files.begin('fsync', 3, 'a')
  })
  expect(left).toContainEqual({})
})

it('guarantees no order between files', () => {
  const left = listCrashImages((files) => {
    files.open(3, 'a')
    files.write(3, 'a', '1')
    files.open(4, 'b')
    files.write(4, 'b', '2')
    files.sync(4, 'b')
  })
  expect(left).toContainEqual({ a: '', b: '2' })
  expect(left.every(({ b }) => b === '2')).toBe(true)
})

it('may show a new name with an empty file, and preserves the order of names', () => {
  const left = listCrashImages((files) => {
    files.open(3, 'draft')
    files.write(3, 'draft', '1')
    files.rename('draft', 'final')
    files.open(4, 'other')
    files.unlink('final')
  })
  expect(left).toContainEqual({ final: '' })
  expect(left).toContainEqual({ other: '' })
  for (const one of left) expect('draft' in one && 'final' in one).toBe(false)
  for (const one of left) if ('other' in one) expect(one).not.toHaveProperty('draft')
})

it.each([
  ['file', true],
  ['journal', false],
] as const)('a sync of a file brings the names of others: by %s, they may be missing: %s', (names, may) => {
  const left = listCrashImages((files) => {
    files.open(4, 'log')
    files.open(3, 'draft')
    files.rename('draft', 'final')
    files.write(4, 'log', '1')
    files.sync(4, 'log')
  }, names)
  expect(left.some((one) => !('final' in one))).toBe(may)
})

it('retains the names of a synced folder', () => {
  const left = listCrashImages((files) => {
    files.open(3, 'draft')
    files.rename('draft', 'final')
    files.syncFolder(5)
  })
  expect(left).toEqual([{ final: '' }])
})

it('rejects writes through mapped memory', () => {
  const files = createTracedProcess(new DiskModel(ROOT))
  files.open(3, 'a')
  expect(() => files.mmap(3, 'a')).toThrow('mapped')
})

it('computes the contents of a file after any writes and truncations', () => {
  const change = fc.oneof(
    fc.record({
      at: fc.nat(20),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    }),
    fc.record({ size: fc.nat(20) }),
  )
  const folder = createTemporaryFolder()
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const fd = openSync(join(folder, 'real'), 'w')
      const file = new TracedFile()
      for (const one of changes) {
        file.changes.push(one)
        if ('bytes' in one) writeSync(fd, one.bytes, 0, one.bytes.length, one.at)
        else ftruncateSync(fd, one.size)
      }
      closeSync(fd)
      expect(getContent(file, changes.length)).toEqual(readFileSync(join(folder, 'real')))
    }),
  )
})

it('parses interleaved calls of several threads', () => {
  const read = createTraceReader()
  const lines = [
    '7 1.5 fdatasync(3<\\x2f> <unfinished ...>',
    '8 1.6 write(4<\\x2f>, "\\x61\\x2c", 2) = 2 <0.25>',
    '7 1.9 <... fdatasync resumed>) = 0 <0.4>',
    '7 2.0 <... read resumed>"", 1) = 0 <0.1>',
    '7 2.1 +++ exited with 0 +++',
  ]
  const phases = lines
    .flatMap((line) => read(line))
    .map(({ phase, name, result, at }: SystemCall) => [phase, name, result, at])
  expect(phases).toEqual([
    ['begun', 'fdatasync', NaN, 1.5],
    ['begun', 'write', NaN, 1.6],
    ['ended', 'write', 2, 1.85],
    ['ended', 'fdatasync', 0, 1.9],
  ])
})

it('restores the contents of a folder', () => {
  const from = createTemporaryFolder()
  mkdirSync(join(from, 'level', 'empty'), { recursive: true })
  for (const [name, text] of [
    ['a', '1'],
    ['level/b', '2'],
  ] as const) {
    const fd = openSync(join(from, `${name}.draft`), 'w')
    writeSync(fd, text)
    fsyncSync(fd)
    closeSync(fd)
    renameSync(join(from, `${name}.draft`), join(from, name))
  }
  unlinkSync(join(from, 'a'))
  const disk = new DiskModel(from, readTree(from))
  const to = createTemporaryFolder()
  writeCrashImage(createCrashImage(disk, createRandom('1')), from, to)
  const names = (folder: string) =>
    [...readTree(folder)].map(([path, entry]) => [path.slice(folder.length), entry === FOLDER]).sort()
  expect(names(to)).toEqual(names(from))
  expect(readFileSync(join(to, 'level/b'), 'utf8')).toBe('2')
})
