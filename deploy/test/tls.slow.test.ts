import { createSelfSigned } from '@influencer-stats/runtime/testing/certificate'
import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url))

test('services that speak TLS reach each other, are healthy and are backed up, by a certificate of their own', async () => {
  const folder = createTemporaryFolder()
  const { cert, key } = createSelfSigned()
  const [tlsCert, tlsKey] = ['cert.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string]
  writeFileSync(tlsCert, cert)
  writeFileSync(tlsKey, key)
  const env = { NODE_EXTRA_CA_CERTS: tlsCert }
  const files = ['--tls-cert', tlsCert, '--tls-key', tlsKey]
  const common = ['--port', '0', '--data', folder, '--log-level', 'warn', '--stats.state', 'kv', ...files]
  const started = spawnStart(['stats', 'sse', 'kv', 'dashboard', ...common], env, { script: START_SCRIPT })
  const { stats, kv, sse, dashboard } = await started.waitUntilReady()

  function send(url: string, method = 'GET', body?: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { connection: 'close', ...(body && { 'content-type': 'application/json' }) }
      const sent = request(url, { method, ca: cert, headers }, async (reply) => {
        const text = (await reply.setEncoding('utf8').toArray()).join('')
        resolve({ status: reply.statusCode!, text })
      })
      sent.on('error', reject).end(body)
    })
  }

  expect((await send(`${stats!.url}/collections/c`, 'PUT', '{"videos":["-4lB5EKS5Uk"]}')).status).toBe(201)
  expect((await send(`${stats!.url}/collections/c/stats`)).text).toContain('"impressions":261734')
  // stats has called kv, the stand-in and sse, all with TLS.
  const metrics = await waitUntil(async () => {
    const { text } = await send(`${stats!.url}/metrics`)
    return /upstream="sse",status="200"/.test(text) && text
  })
  for (const upstream of ['kv', 'youtube']) expect(metrics).toMatch(new RegExp(`upstream="${upstream}",status="20\\d"`))
  expect(metrics).toMatch(/^tls_certificate_expiry_seconds \d{10}/m)
  expect((await send(`${sse!.url}/value?topic=collections/c`)).text).toContain('"impressions":261734')
  expect((await send(`${dashboard!.url}/api/stats/collections/c/stats`)).status).toBe(200)

  const run = (script: string, args: string[], more: Record<string, string>) =>
    spawnSync(process.execPath, [join(SCRIPTS, script), ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...more },
    })
  const HEALTH_URL = `${kv!.url}/readyz`
  expect(run('health.ts', [], { ...env, HEALTH_URL }).status).toBe(0)
  // An unknown certificate is not trusted.
  expect(run('health.ts', [], { HEALTH_URL, NODE_EXTRA_CA_CERTS: '' }).status).toBe(1)
  const backup = ['backup', 'kv', '--kv.port', String(kv!.port), ...files]
  expect(run('backup.ts', [join(folder, backup[0]!), ...backup.slice(1)], env)).toMatchObject({ status: 0, stderr: '' })
  expect((await started.stop()).code).toBe(0)
})
