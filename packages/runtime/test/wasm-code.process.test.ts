import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const START_TWICE = fileURLToPath(new URL('./fixtures/start-twice.ts', import.meta.url))

test('V8 collects WebAssembly code before threads exist, and never after', async () => {
  const flags = ['--stress-wasm-code-gc', '--trace-wasm-code-gc']
  // If an earlier run has cached compiled modules, no WebAssembly is compiled.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, START_TWICE], { env })
  const collections = stdout.split(/^.* start$/m).map((lines) => lines.match(/Starting GC/g)?.length ?? 0)
  expect(collections).toEqual([expect.any(Number), 0, 0])
  expect(collections[0]).toBeGreaterThan(0)
})
