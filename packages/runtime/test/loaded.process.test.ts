import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, test } from 'vitest'
import { START_SCRIPT } from './support/spawn-start.ts'

const run = promisify(execFile)

test('a second start does not load the TypeScript compiler', async () => {
  const folder = createTemporaryFolder()
  const modules = join(folder, 'modules')
  const spy = join(folder, 'spy.cjs')
  writeFileSync(
    spy,
    `process.on('exit', () => require('node:fs').writeFileSync(process.env.MODULES, process.moduleLoadList.join('\\n')))`,
  )
  // A separate cache, which only this test fills.
  const { NODE_COMPILE_CACHE: _of, ...env } = process.env
  async function listLoaded(): Promise<string> {
    await run(process.execPath, ['--require', spy, START_SCRIPT, '--version'], { env: { ...env, MODULES: modules } })
    return readFileSync(modules, 'utf8')
  }
  await listLoaded()
  const names = await listLoaded()
  expect(names).toContain('NativeModule internal/modules/esm/loader')
  expect(names).not.toContain('amaro')
})

// The purpose of the patch of fastify and of the imports of single modules of prom-client. New versions may differ.
test('an app and process metrics load only the modules that they need', async () => {
  const urls = ['http/app/app', 'worker/serve', 'metrics/process-metrics'].map(
    (name) => new URL(`../src/${name}.ts`, import.meta.url).href,
  )
  const script = `
    for (const url of ${JSON.stringify(urls)}) await import(url)
    console.log([...process.moduleLoadList, ...Object.keys((await import('node:module')).default._cache)].join('\\n'))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  expect(stdout).toMatch(/\/fastify\/.*\/prom-client\//s)
  expect(stdout).not.toMatch(/^NativeModule (http2|https|tls)$|\/semver\/|@opentelemetry/m)
})
