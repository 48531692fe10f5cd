import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLevel } from '../src/level.ts'

const options = { service: 'counter', format: 2 }
const MODULE = new URL('../src/level.ts', import.meta.url).href

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runtime-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const refused = (code: string) => expect.objectContaining({ name: 'StartError', code })

test('makes the folder, and finds again what was put in it', async () => {
  const folder = join(emptyFolder(), 'data', 'counter')
  const first = await openLevel(folder, options)
  await first.put('key', 'value')
  await first.close()
  const again = await openLevel(folder, options)
  expect(await again.get('key')).toBe('value')
  await again.close()
  expect(JSON.parse(readFileSync(join(folder, 'format.json'), 'utf8'))).toEqual(options)
})

test('refuses a folder that another process has open', async () => {
  const folder = emptyFolder()
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
  // What a killed process held is free.
  await (await openLevel(folder, options)).close()
})

test('refuses a folder that cannot be written, is of another service, or of a newer version', async () => {
  const folder = emptyFolder()
  writeFileSync(join(folder, 'file'), '')
  await expect(openLevel(join(folder, 'file', 'data'), options)).rejects.toThrow(refused('DATA_UNWRITABLE'))
  await (await openLevel(folder, options)).close()
  await expect(openLevel(folder, { service: 'asker', format: 2 })).rejects.toThrow(refused('DATA_FOREIGN'))
  await expect(openLevel(folder, { service: 'counter', format: 1 })).rejects.toThrow(refused('DATA_NEWER'))
  await (await openLevel(folder, { service: 'counter', format: 3 })).close()
  await expect(openLevel(folder, options)).rejects.toThrow(refused('DATA_NEWER'))
})
