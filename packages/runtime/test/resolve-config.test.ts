import * as fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseArguments } from '../src/settings/arguments.ts'
import { resolveConfigs, getSettings } from '../src/settings/resolve-config.ts'
import { StartError } from '../src/errors/common-errors.ts'
import { formatHelp } from '../src/settings/help-text.ts'
import { SETTING_GROUPS, toFlag } from '../src/settings/define-settings.ts'
import { commonSettings } from '../src/settings/settings.ts'
import { asker, counter } from './fixtures/services.ts'

const resolve = (argv: string[] = [], env: Record<string, string> = {}) =>
  resolveConfigs([counter, asker], parseArguments(argv).flags, env)

function getComplaint(argv: string[], env: Record<string, string> = {}): string {
  let thrown: unknown
  try {
    resolve(argv, env)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(StartError)
  expect(thrown).toMatchObject({ code: 'SETTINGS_WRONG' })
  return (thrown as Error).message
}

function createTokenFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'runtime-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'token'), content)
  return join(folder, 'token')
}

describe('sources of a setting', () => {
  test('defaults', () => {
    expect(resolve().get('counter')).toMatchObject({
      host: '127.0.0.1',
      port: 18_080,
      threads: '1',
      data: './data/counter',
      start: 0,
      allowedHosts: [],
    })
    expect(resolve().get('asker')).toMatchObject({ port: 18_081, data: './data/asker' })
  })

  test('each source takes precedence over those before it', () => {
    const sources: { argv: string[]; env: Record<string, string> }[] = [
      { argv: [], env: {} },
      { argv: ['--variant', 'v1'], env: {} },
      { argv: [], env: { COUNTER_START: '20' } },
      { argv: ['--start', '30'], env: {} },
      { argv: ['--counter.start', '40'], env: {} },
    ]
    const values = [0, 7, 20, 30, 40]
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4]), (chosen) => {
        const argv = chosen.flatMap((i) => sources[i]!.argv)
        const env = Object.assign({}, ...chosen.map((i) => sources[i]!.env))
        expect(resolve(argv, env).get('counter')!.start).toBe(values[Math.max(0, ...chosen)])
      }),
    )
  })

  test('the last of two equal flags counts, and an empty variable is unset', () => {
    expect(resolve(['--start', '1', '--start', '2']).get('counter')!.start).toBe(2)
    expect(resolve([], { COUNTER_START: '' }).get('counter')!.start).toBe(0)
  })

  test('a flag without a prefix applies to all services that have it, one with a prefix to one', () => {
    const configs = resolve(['--threads', '2', '--asker.threads', '3', '--start', '4'])
    expect(configs.get('counter')).toMatchObject({ threads: '2', start: 4 })
    expect(configs.get('asker')).toMatchObject({ threads: '3' })
    expect(configs.get('asker')).not.toHaveProperty('start')
  })

  test('a variant without a prefix applies to the services that have it', () => {
    const configs = resolve(['--variant', 'v1'])
    expect(configs.get('counter')).toMatchObject({ variant: 'v1', start: 7 })
    expect(configs.get('asker')).toMatchObject({ variant: '' })
  })

  test('a shared variable applies to all, and a variable of the service takes precedence', () => {
    const configs = resolve([], { API_TOKEN: 'all', ASKER_API_TOKEN: 'own' })
    expect(configs.get('counter')!.apiToken).toBe('all')
    expect(configs.get('asker')!.apiToken).toBe('own')
  })

  test('a former name of a setting works as flag and variable; the current name takes precedence', () => {
    const delayOf = (argv: string[], env = {}) => resolve(argv, env).get('counter')!.maxQueueDelay
    expect(delayOf(['--maxWait', '70'])).toBe(70)
    expect(delayOf(['--max-wait', '70'])).toBe(70)
    expect(delayOf(['--counter.maxWait', '70'])).toBe(70)
    expect(delayOf([], { COUNTER_MAX_WAIT: '70' })).toBe(70)
    expect(delayOf([], { COUNTER_MAX_WAIT: '70', COUNTER_MAX_QUEUE_DELAY: '80' })).toBe(80)
    expect(delayOf(['--max-queue-delay', '90'], { COUNTER_MAX_WAIT: '70' })).toBe(90)
  })

  test('flags are kebab-case or camelCase', () => {
    for (const flag of ['--max-queue-delay', '--maxQueueDelay', '--counter.max-queue-delay', '--counter.maxQueueDelay'])
      expect(resolve([flag, '70']).get('counter')!.maxQueueDelay).toBe(70)
  })

  test('lists are split at commas', () => {
    expect(resolve(['--allowed-hosts', 'a.example, b.example,,']).get('counter')!.allowedHosts).toEqual([
      'a.example',
      'b.example',
    ])
    expect(resolve(['--allowed-hosts=']).get('counter')!.allowedHosts).toEqual([])
  })

  test('the token can be in a file', () => {
    const file = createTokenFile('  from-file\n')
    expect(resolve([], { API_TOKEN_FILE: file }).get('counter')!.apiToken).toBe('from-file')
  })

  test('every secret of every service can be in a file, with the same validation', async () => {
    const { services } = await import('../../../services.ts')
    for (const load of Object.values(services)) {
      const definition = await load()
      const secrets = Object.entries(getSettings(definition)).filter(([, { secret }]) => secret)
      expect(secrets.length).toBeGreaterThanOrEqual(2)
      for (const [name, { env, type }] of secrets) {
        const file = createTokenFile('  a,b\n')
        const value = type === 'array' ? ['a', 'b'] : 'a,b'
        const ways = [{ argv: [`--${name}File`, file] }, ...(env ? [{ env: { [`${env}_FILE`]: file } }] : [])]
        for (const { argv = [], env: variables = {} } of ways) {
          const { flags } = parseArguments(argv)
          expect(resolveConfigs([definition], flags, variables).get(definition.name)![name]).toEqual(value)
        }
      }
    }
    const checked = {
      ...counter,
      settings: { key: { type: 'string', description: '', secret: true, pattern: '^a' } },
    } as const
    const { flags } = parseArguments(['--keyFile', createTokenFile('hunter2')])
    expect(() => resolveConfigs([checked as never], flags, {})).toThrow(/^--key-file: its value does not match \^a$/)
  })

  test('--data is the parent folder of all, --counter.data the folder of one', () => {
    const configs = resolve(['--data', '/srv/data', '--asker.data', '/srv/own'])
    expect(configs.get('counter')!.data).toBe('/srv/data/counter')
    expect(configs.get('asker')!.data).toBe('/srv/own')
    expect(resolve([], { COUNTER_DATA: '/srv/own' }).get('counter')!.data).toBe('/srv/own')
  })

  test('ignores the port variable that Kubernetes sets for a service', () => {
    expect(resolve([], { COUNTER_PORT: 'tcp://10.0.0.1:8080' }).get('counter')!.port).toBe(18_080)
    getComplaint([], { COUNTER_PORT: 'http://10.0.0.1:8080' })
  })

  test('a stand-in always listens on loopback', () => {
    const fake = { ...counter, name: 'fake', standsIn: '--fakeUri REAL' } as never
    const both = (argv: string[], env = {}) => resolveConfigs([counter, fake], parseArguments(argv).flags, env)
    const configs = both(['--host', '0.0.0.0'])
    expect(configs.get('counter')!.host).toBe('0.0.0.0')
    expect(configs.get('fake')!.host).toBe('127.0.0.1')
    expect(both(['--fake.host', '127.0.0.2']).get('fake')!.host).toBe('127.0.0.2')
    expect(() => both(['--fake.host', '0.0.0.0'])).toThrow(
      /^--fake\.host: fake stores a number; it must listen on a loopback address$/,
    )
    expect(() => both([], { FAKE_HOST: '::' })).toThrow(/^FAKE_HOST: /)
  })

  test('threads', () => {
    for (const threads of ['0', '1', '64', 'auto']) {
      expect(resolve(['--threads', threads]).get('counter')!.threads).toBe(threads)
    }
    for (const threads of ['65', '-1', '1.5', 'many', '', '01']) getComplaint([`--threads=${threads}`])
  })
})

describe('wrong settings', () => {
  test('reports all errors at once, each with its source', () => {
    const message = getComplaint(['--counter.port', 'x', '--nonsense', '1', '--variant', 'v9'], {
      COUNTER_START: '101',
      ASKER_LOG_LEVEL: 'loud',
    })
    expect(message.split('; ').map((line) => line.split(':')[0])).toEqual([
      '--nonsense',
      '--variant',
      '--counter.port',
      'COUNTER_START',
      'ASKER_LOG_LEVEL',
    ])
    expect(message).not.toContain('\n')
  })

  test('names a flag of several services once', () => {
    expect(getComplaint(['--threads', 'x'])).toMatch(/^--threads: "x" [^;]*$/)
  })

  test('reports a flag for a service that is not started, or without such a setting or variant', () => {
    for (const argv of [
      ['--kv.port', '1'],
      ['--asker.start', '1'],
      ['--asker.variant', 'v1'],
      ['--hasOwnProperty', '1'],
    ])
      expect(getComplaint(argv)).toMatch(/^--(kv\.port|asker\.start|asker\.variant|has-own-property): /)
  })

  test.each([
    [['--prot', '1'], '--prot: no started service has this setting; did you mean --port?'],
    [['--counter.sart', '1'], '--counter.sart: no started service has this setting; did you mean --counter.start?'],
    [['--maxConection', '1'], '--max-conection: no started service has this setting; did you mean --max-connections?'],
    [['--nonsense', '1'], '--nonsense: no started service has this setting (--help lists the settings)'],
    [['--host='], '--host: "" is not a string of at least 1 character'],
    [['--start', '101'], '--start: "101" is not a whole number from 0 to 100'],
    [['--log-level', 'loud'], '--log-level: "loud" is not one of debug, info, warn, error, silent'],
    [['--variant', 'v\n9'], '--variant: no started service has a variant "v\\u000a9" (counter has v1)'],
    [
      ['--allowed-hosts', 'a.example,no host'],
      '--allowed-hosts: "no host" is neither a host name nor an address nor a network (10.0.0.0/8)',
    ],
    [['--trust-proxy', '10.0.0.0/99'], '--trust-proxy: "10.0.0.0/99" is neither an address nor a network (10.0.0.0/8)'],
    [
      ['--counterUri', 'http://user:hunter2@host path'],
      '--counter-uri: "http://***@host path" is not an address such as http://localhost:8080',
    ],
    [
      ['--threads', 'x'.repeat(300)],
      `--threads: "${'x'.repeat(100)}..." (300 characters) is not a whole number from 0 to 64, or auto`,
    ],
    [['--variant', 'v9'], '--variant: no started service has a variant "v9" (counter has v1)'],
    [['--counter.variant', 'v9'], '--counter.variant: counter has no variant "v9" (known: v1)'],
    [['--threads', '100'], '--threads: "100" is not a whole number from 0 to 64, or auto'],
    [['--counterUri', 'x'], '--counter-uri: "x" is not an address such as http://localhost:8080'],
    [['--server', 'x'], '--server: "x" is not one of fastify, node-http, raw'],
  ])('%j gets a hint', (argv, words) => {
    expect(getComplaint(argv)).toBe(words)
  })

  test('reports a wrong value under a former name', () => {
    expect(getComplaint(['--maxWait', 'x'])).toMatch(/^--max-wait: "x" is not a whole number/)
    expect(getComplaint([], { COUNTER_MAX_WAIT: 'x' })).toMatch(/^COUNTER_MAX_WAIT: "x" is not a whole number/)
  })

  test('validates numbers', () => {
    for (const port of ['-1', '65536', '1.5', 'x', '', ' ', '0x', 'null', 'Infinity'])
      expect(getComplaint([`--port=${port}`])).toContain('--port')
  })

  test('never repeats a secret', () => {
    const secret = {
      ...counter,
      settings: { key: { type: 'string', description: '', secret: true, pattern: '^a' } },
    } as const
    const flags = parseArguments(['--key', 'hunter2']).flags
    expect(() => resolveConfigs([secret as never], flags, {})).toThrow(/^--key: its value does not match \^a$/)
  })

  test('reports a token file that is missing or empty', () => {
    expect(getComplaint(['--api-token-file', '/nowhere/token'])).toMatch(
      /^--api-token-file: \/nowhere\/token .*ENOENT[^;]*$/,
    )
    expect(getComplaint(['--api-token-file', createTokenFile('\n')])).toMatch(/is empty/)
  })
})

test('help lists every setting of every service with its default and its variables', () => {
  const text = formatHelp([counter, asker])
  const settings = { ...commonSettings, ...counter.settings, ...asker.settings }
  for (const [name, { description }] of Object.entries(settings)) {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`  ${toFlag(name)} `))
    expect(line).toContain(description)
    const fallback = (settings as Record<string, { default?: unknown }>)[name]!.default
    if (typeof fallback === 'number' || (typeof fallback === 'string' && fallback))
      expect(line).toContain(String(fallback))
  }
  const sections = text.split('\n').flatMap((line) => /^([\w ]+):$/.exec(line)?.[1] ?? [])
  expect(sections.slice(0, SETTING_GROUPS.length - 1)).toEqual(SETTING_GROUPS.filter((group) => group !== 'cluster'))
  for (const word of ['counter: stores a number (port 18080', 'COUNTER_START', 'API_TOKEN', '<SERVICE>_PORT', 'v1'])
    expect(text).toContain(word)
})
