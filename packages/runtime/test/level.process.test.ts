import { readFormatFile } from './support/read-format.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { flush, openLevel, type LevelOptions } from '../src/level/open/open-level.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const options = { service: 'counter', format: 2 }
const MODULE = new URL('../src/level/open/open-level.ts', import.meta.url).href

const refused = (code: string) => expect.objectContaining({ name: 'StartError', code })

test('creates the folder, and reads after a restart what was written', async () => {
  const folder = join(createTemporaryFolder(), 'data', 'counter')
  const first = await openLevel(folder, options)
  await first.put('key', 'value')
  await first.close()
  const again = await openLevel(folder, options)
  expect(await again.get('key')).toBe('value')
  await again.close()
  expect(readFormatFile(folder)).toEqual(options)
})

test('refuses a folder that is open in another process', async () => {
  const folder = createTemporaryFolder()
  const hold = `
    const { openLevel } = await import('${MODULE}')
    await openLevel(${JSON.stringify(folder)}, ${JSON.stringify(options)})
    console.log('open')
    setInterval(() => {}, 1e6)`
  const other = spawn(process.execPath, ['--input-type=module', '-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(other.stdout, 'data')
    await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_LOCKED'))
  } finally {
    other.kill('SIGKILL')
    await once(other, 'exit')
  }
  // The lock of a killed process is free.
  await (await openLevel(folder, options)).close()
})

test('refuses a folder that is unwritable, of another service or of a newer version', async () => {
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  await expect(openLevel(join(folder, 'file', 'data'), options)).rejects.toThrow(refused('DATA_UNWRITABLE'))
  await (await openLevel(folder, options)).close()
  await expect(openLevel(folder, { service: 'asker', format: 2 })).rejects.toThrow(refused('DATA_FOREIGN'))
  await expect(openLevel(folder, { service: 'counter', format: 1 })).rejects.toThrow(refused('DATA_NEWER'))
})

describe('the format file', () => {
  const FORMAT_JSON = JSON.stringify(options)

  test.each(['', FORMAT_JSON.slice(0, -1), FORMAT_JSON.slice(0, 3), '\0'.repeat(FORMAT_JSON.length)])(
    'cut to %j is written again for an empty folder, and never guessed for a folder with data',
    async (text) => {
      const folder = createTemporaryFolder()
      writeFileSync(join(folder, 'format.json'), text)
      await (await openLevel(folder, options)).close()
      expect(readFormatFile(folder)).toEqual(options)
      writeFileSync(join(folder, 'format.json'), text)
      await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_FORMAT_DAMAGED'))
    },
  )

  test.each(['{}', 'null', '[]', '7', '"counter"', '{"service":"counter"}', '{"service":"counter","format":"2"}'])(
    'with the content %s is foreign',
    async (text) => {
      const folder = createTemporaryFolder()
      writeFileSync(join(folder, 'format.json'), text)
      await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_FOREIGN'))
      expect(readFileSync(join(folder, 'format.json'), 'utf8')).toBe(text)
    },
  )
})

test('detects a flipped bit of the format, and adds a missing checksum', async () => {
  const folder = createTemporaryFolder()
  const file = join(folder, 'format.json')
  await (await openLevel(folder, { service: 'counter', format: 1 })).close()
  writeFileSync(file, JSON.stringify({ service: 'counter', format: 1 }))
  const upgrades = { 1: async () => {} }
  await (await openLevel(folder, { service: 'counter', format: 1 })).close()
  const whole = readFileSync(file)
  for (let bit = 0; bit < 8 * whole.length; bit++) {
    const bytes = Buffer.from(whole)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    writeFileSync(file, bytes)
    const opening = openLevel(folder, { service: 'counter', format: 2, upgrades })
    // A flipped bit in the name of the checksum has no effect.
    if (
      /^\{"service":"counter","format":1,"[^"]{3}":"[0-9a-f]+"\}$/.test(bytes.toString()) &&
      !bytes.includes('"sum"')
    ) {
      await (await opening).close()
      writeFileSync(file, whole)
    } else await expect(opening).rejects.toThrow(refused('DATA_FORMAT_DAMAGED'))
  }
})

describe('a first start that a power cut ended', () => {
  const CUT_OFF = { ...options, from: 0 }
  /** LevelDB does not sync the first manifest, and `CURRENT` may already name it. */
  const remains: Record<string, string>[] = [
    {},
    { '000003.log': '' },
    { CURRENT: '', 'MANIFEST-000001': '' },
    { CURRENT: 'MANIFEST-000001\n' },
    { CURRENT: 'MANIFEST-000001\n', 'MANIFEST-000001': '' },
    { CURRENT: 'MANIFEST-000001\n', 'MANIFEST-000001': '\0'.repeat(50), 'MANIFEST-000002': '' },
  ]
  function createFolderWith(format: object, files: Record<string, string>): string {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'format.json'), JSON.stringify(format))
    mkdirSync(join(folder, 'level'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'level', name), text)
    return folder
  }

  test.each(remains)('is repeated from %j', async (files) => {
    const folder = createFolderWith(CUT_OFF, files)
    const db = await openLevel(folder, options)
    await db.put('key', 'value')
    await db.close()
    expect(readFormatFile(folder)).toEqual(options)
    const again = await openLevel(folder, options)
    expect(await again.get('key')).toBe('value')
    await again.close()
  })

  test('is recognized', async () => {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'level'), 'in the way')
    await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_UNREADABLE'))
    expect(readFormatFile(folder)).toEqual(CUT_OFF)
  })

  test('is repeated by a version of the next format, too', async () => {
    const folder = createFolderWith(CUT_OFF, remains.at(-1)!)
    const next = { service: 'counter', format: 3 }
    await (await openLevel(folder, next)).close()
    expect(readFormatFile(folder)).toEqual(next)
  })

  test('is never assumed after a complete start: the folder is refused and not changed', async () => {
    const files = { CURRENT: 'MANIFEST-000001\n', 'MANIFEST-000001': '', '000003.log': 'acknowledged' }
    const later = { CURRENT: 'MANIFEST-000002\n', 'MANIFEST-000002': '', '000003.log': 'acknowledged' }
    for (const folder of [createFolderWith(options, files), createFolderWith(CUT_OFF, later)]) {
      await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_DAMAGED'))
      expect(readFileSync(join(folder, 'level', '000003.log'), 'utf8')).toBe('acknowledged')
    }
  })

  test('does not hide that data need an upgrade', async () => {
    const folder = createTemporaryFolder()
    await (await openLevel(folder, options)).close()
    // The state that a second process leaves if it starts at the same time and does not get the lock.
    writeFileSync(join(folder, 'format.json'), JSON.stringify(CUT_OFF))
    await expect(openLevel(folder, { service: 'counter', format: 3 })).rejects.toThrow(refused('DATA_OLDER'))
  })
})

describe('an upgrade', () => {
  type Upgrades = NonNullable<LevelOptions['upgrades']>
  const LATEST_FORMAT = 4

  /** Each upgrade adds its version to the stored list of upgrades. */
  const upgradeFrom =
    (version: number): Upgrades[number] =>
    async (db) => {
      const path = ((await db.get('path')) ?? '').split(',')
      if (!path.includes(String(version))) await db.put('path', [...path, version].join(','))
    }
  const upgrades: Upgrades = { 1: upgradeFrom(1), 2: upgradeFrom(2), 3: upgradeFrom(3) }

  async function createFolder(format: number): Promise<string> {
    const folder = createTemporaryFolder()
    const db = await openLevel(folder, { service: 'counter', format })
    await db.put('path', 'made')
    await db.close()
    return folder
  }

  async function getPath(folder: string, format = LATEST_FORMAT, by = upgrades): Promise<string | undefined> {
    const db = await openLevel(folder, { service: 'counter', format, upgrades: by })
    const path = await db.get('path')
    await db.close()
    return path
  }

  test('runs once for each version between, in order', async () => {
    const folder = await createFolder(1)
    for (let start = 0; start < 2; start++) expect(await getPath(folder)).toBe('made,1,2,3')
    expect(readFormatFile(folder)).toEqual({ service: 'counter', format: LATEST_FORMAT })
  })

  test('that is missing refuses the folder without a change', async () => {
    const folder = await createFolder(1)
    const { 2: _, ...others } = upgrades
    await expect(getPath(folder, LATEST_FORMAT, others)).rejects.toThrow(refused('DATA_OLDER'))
    expect(readFormatFile(folder)).toEqual({ service: 'counter', format: 1 })
    expect(await getPath(folder, 1)).toBe('made')
  })

  test('that fails runs again at the next start; older versions refuse its result', async () => {
    const folder = await createFolder(1)
    const failing: Upgrades[number] = async (db) => {
      await upgrades[2]!(db)
      throw new Error('half done')
    }
    await expect(getPath(folder, LATEST_FORMAT, { ...upgrades, 2: failing })).rejects.toThrow(
      refused('DATA_UPGRADE_FAILED'),
    )
    await expect(getPath(folder, 2)).rejects.toThrow(refused('DATA_NEWER'))
    expect(await getPath(folder)).toBe('made,1,2,3')
  })

  test('that a kill interrupts runs again at the next start', async () => {
    const folder = await createFolder(2)
    const cutOff = `
      const { openLevel } = await import('${MODULE}')
      const upgrades = { 2: (db) => db.put('path', 'made,half').then(() => process.kill(process.pid, 'SIGKILL')) }
      await openLevel(${JSON.stringify(folder)}, { service: 'counter', format: 3, upgrades })`
    const [, signal] = await once(spawn(process.execPath, ['--input-type=module', '-e', cutOff]), 'exit')
    expect(signal).toBe('SIGKILL')
    expect(await getPath(folder)).toBe('made,half,2,3')
  })

  test('is in synced tables before the folder has the new format', async () => {
    const folder = await createFolder(1)
    const log = () => readFileSync(join(folder, 'level', 'LOG'), 'utf8')
    let atEnd = ''
    const db = await openLevel(folder, {
      service: 'counter',
      format: 2,
      upgrades: {
        async 1(db) {
          await upgrades[1]!(db)
          atEnd = log()
        },
      },
    })
    expect(log().slice(atEnd.length)).toMatch(/Level-0 table #\d+: \d+ bytes OK/)
    await db.close()
  })
})

test.each(['', '\0', '~', '\u{10ffff}'])('flushing does not change the entry under %j', async (key) => {
  const db = await openLevel(createTemporaryFolder(), options)
  await db.put(key, 'value')
  await flush(db)
  expect(await db.get(key)).toBe('value')
  await db.close()
})

test('creates no data in a folder of another service', async () => {
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'other'))
  writeFileSync(join(folder, 'format.json'), JSON.stringify({ service: 'asker', format: 1 }))
  await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_FOREIGN'))
  expect(() => readFileSync(join(folder, 'level', 'CURRENT'))).toThrow('ENOENT')
})
