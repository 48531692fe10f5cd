import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { buildConfig } from '../src/supervisor/embed.ts'
import { startService } from '../src/supervisor/service-host.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { counter as definition } from './fixtures/services.ts'

/** A counter with hot routes, and its log lines. */
async function start(server: string) {
  const lines: { err: { message: string }; requestId: string }[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const config = buildConfig(definition, { port: 0, threads: 0, hot: 'yes', server })
  const running = await startService({ services: '', definition, config, log })
  onTestFinished(async () => void (await running.stop()))
  return { url: running.url, lines }
}

test.each(SERVERS.flatMap((server) => ['/hot-throw', '/later-fault/1'].map((path) => [server, path] as const)))(
  '%s: an unknown fault of %s reveals no details, and is logged once with its request',
  async (server, path) => {
    const { url, lines } = await start(server)
    const reply = await fetch(url + path)
    const body = await reply.text()
    expect([reply.status, JSON.parse(body).code]).toEqual([500, 'INTERNAL'])
    expect(reply.headers.get('content-type')).toBe('application/problem+json')
    expect(body).not.toContain('secret')
    const requestId = reply.headers.get('x-request-id')
    expect(lines).toEqual([expect.objectContaining({ requestId, msg: 'request failed' })])
    expect(lines[0]!.err.message).toContain('secret words')
    expect((await fetch(`${url}/items/ab/view`)).status).toBe(200)
  },
)

test.each(SERVERS)('%s: a temporary fault has Retry-After, and is not logged', async (server) => {
  const { url, lines } = await start(server)
  for (const path of ['/problem', '/later-fault/0']) {
    const reply = await fetch(url + path)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '7'])
    expect(await reply.json()).toMatchObject({ code: 'TOO_SOON', detail: 'in a while' })
  }
  expect(lines).toEqual([])
})

test.each(SERVERS)('%s: a full disk is logged with its cause', async (server) => {
  const { url, lines } = await start(server)
  const reply = await fetch(`${url}/full`)
  const body = await reply.text()
  expect([reply.status, JSON.parse(body).code]).toEqual([507, 'DISK_FULL'])
  expect(body).not.toContain('ENOSPC')
  expect(lines).toEqual([expect.objectContaining({ requestId: reply.headers.get('x-request-id') })])
  expect(lines[0]!.err.message).toContain('ENOSPC')
})
