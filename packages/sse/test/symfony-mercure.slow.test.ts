import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { SignJWT } from 'jose'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { HUB, createMercureClient } from './support/mercure-client.ts'
import { startSse } from './support/test-sse.ts'

const SCRIPT = fileURLToPath(new URL('./support/publish.php', import.meta.url))
const SECRET = '!ChangeThisMercureHubJWTSecretKey!'
const TOPIC = 'https://x.example/books/1'

// Debian's packages php-cli, php-symfony-mercure and php-symfony-http-client.
const hasSymfony = [
  '/usr/bin/php',
  '/usr/share/php/Symfony/Component/Mercure',
  '/usr/share/php/Symfony/Component/HttpClient',
].every((path) => existsSync(path))

it('symfony/mercure publishes unchanged, and its readers resume over a restart', async (context) => {
  if (!hasSymfony) context.skip('symfony/mercure of Debian is not installed')
  const settings = {
    mercureCompatibility: '8',
    mercurePublisherJwtKey: SECRET,
    mercureSubscriberJwtKey: SECRET,
    mercureAnonymous: 'on',
    history: 'level',
    data: createTemporaryFolder(),
  }
  const publish = async (url: string, ...args: string[]) => {
    const env = { ...process.env, MERCURE_URL: url + HUB, MERCURE_JWT_SECRET: SECRET }
    return (await promisify(execFile)('php', [SCRIPT, TOPIC, ...args], { env })).stdout
  }
  const token = await new SignJWT({ mercure: { subscribe: [TOPIC] } })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(Buffer.from(SECRET))
  const cookie = { cookie: `mercureAuthorization=${token}` }
  const query = '?topic=https%3A%2F%2Fx.example%2Fbooks%2F%7Bid%7D'

  const first = await startSse(settings)
  const [reader] = await createMercureClient(first).subscribe(query, cookie)
  const [stranger] = await createMercureClient(first).subscribe(query)
  expect(await publish(first.url, 'one', 'private', 'urn:uuid:1')).toBe('urn:uuid:1')
  expect(await publish(first.url, 'two', 'public', 'urn:uuid:2')).toBe('urn:uuid:2')
  await reader!.until(2)
  await stranger!.until(1)
  expect([reader!.values, stranger!.values]).toEqual([['one', 'two'], ['two']])
  await first.stop()

  const second = await startSse(settings)
  await publish(second.url, 'three', 'private', 'urn:uuid:3')
  const resumed = await createMercureClient(second).subscribe(query, { ...cookie, 'last-event-id': 'urn:uuid:1' })
  for (const stream of resumed) {
    await stream.until(2)
    expect(stream.values).toEqual(['two', 'three'])
    expect(stream.headers['last-event-id']).toBe('urn:uuid:1')
  }
})
