import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../scripts/generate.ts', import.meta.url))

it('the documents and types of the clients are those of the routes', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '--check'])
  expect(stdout).toBe('0 old files\n')
})
