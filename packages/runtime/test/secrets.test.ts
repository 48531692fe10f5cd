import * as fc from 'fast-check'
import { readFileSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLogger } from '../src/logging/logger.ts'
import { createRedactor, getSecrets } from '../src/settings/secrets.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const searched = (secret: string) => new URLSearchParams({ key: secret }).toString().slice('key='.length)

/** A fault with the secret in its messages, fields and causes. */
const faultWith = (secret: string) => {
  const url = new URL('http://127.0.0.1/videos')
  url.searchParams.set('key', secret)
  const inner = Object.assign(new TypeError(`Failed to parse URL from ${url.href}`), { input: url.href })
  const cause = Object.assign(new Error(`bearer ${secret}`, { cause: inner }), { headers: { authorization: secret } })
  return new AggregateError([cause, new Error(`/a?key=${encodeURIComponent(secret)}`)], 'asked in vain', { cause })
}

test('a log never contains a secret of any fault, and stays valid JSON', () => {
  const folder = createTemporaryFolder()
  let files = 0
  fc.assert(
    fc.property(fc.oneof(fc.string({ minLength: 8, unit: 'binary' }), fc.string({ minLength: 8 })), (secret) => {
      fc.pre(secret.isWellFormed())
      const file = join(folder, String(files++))
      const log = createLogger('info', { service: 'test' }, ['', secret], openSync(file, 'a'))
      log.error(faultWith(secret), `could not ask with ${secret}`)
      log.info({ url: `/x?access_token=${secret}` }, 'plain')
      const lines = readFileSync(file, 'utf8').trim().split('\n')
      expect(lines).toHaveLength(2)
      for (const line of lines) {
        JSON.parse(line, (_, value) => {
          if (typeof value !== 'string') return value
          const bare = value.replaceAll('[secret]', '')
          for (const form of [secret, encodeURIComponent(secret), searched(secret)]) expect(bare).not.toContain(form)
          return value
        })
      }
    }),
  )
})

test('a secret of digits does not change times', () => {
  const file = join(createTemporaryFolder(), 'log')
  createLogger('info', {}, ['1'], openSync(file, 'a')).info('1 or 2')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ time: expect.any(Number), msg: '[secret] or 2' })
})

test('removes a short secret where it is a whole value, and preserves words and field names', () => {
  const file = join(createTemporaryFolder(), 'log')
  const log = createLogger('info', { service: 'msg' }, ['s', 'msg'], openSync(file, 'a'))
  log.info({ url: '/x?access_token=s&y=1', header: 'Bearer s', token: 's', reason: "it's msgs" }, 'secrets stay secret')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    service: '[secret]',
    url: '/x?access_token=[secret]&y=1',
    header: 'Bearer [secret]',
    token: '[secret]',
    reason: "it'[secret] msgs",
    msg: 'secrets stay secret',
  })
})

test('secrets are the settings marked secret, including lists, except public defaults', () => {
  const settings = {
    key: { type: 'string', default: 'stand-in', secret: true, description: '' },
    keys: { type: 'array', items: { type: 'string' }, default: ['stand-in'], secret: true, description: '' },
    name: { type: 'string', default: '', description: '' },
  } as const
  const config = { key: 'stand-in', keys: ['stand-in', 'mine'], name: 'me', apiToken: 'hunter2', readToken: '' }
  const secrets = getSecrets({ settings }, config)
  expect(secrets.toSorted()).toEqual(['hunter2', 'mine'])
  expect(createRedactor(secrets)('hunter2 is mine, not stand-in')).toBe('[secret] is [secret], not stand-in')
})
