import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseArguments } from '../src/settings/arguments.ts'

const flag = (service: string | undefined, name: string, value: string) => ({ service, name, value })

test('accepts names, flags and prefixed flags in any order', () => {
  expect(parseArguments(['stats', '--threads', '2', 'kv', '--stats.port=9000', '--api-token', 'x'])).toEqual({
    services: ['stats', 'kv'],
    flags: [flag(undefined, 'threads', '2'), flag('stats', 'port', '9000'), flag(undefined, 'apiToken', 'x')],
    isVerbose: false,
  })
  expect(parseArguments([])).toEqual({ services: [], flags: [], isVerbose: false })
})

test('help takes precedence over all arguments after it', () => {
  expect(parseArguments(['stats', '--help', '--nonsense'])).toMatchObject({ services: ['stats'], instead: 'help' })
  expect(parseArguments(['-h']).instead).toBe('help')
  expect(parseArguments(['--verbose', '--version', '--help'])).toMatchObject({ instead: 'version', isVerbose: true })
})

test.each([['--port'], ['-p'], ['-p', '1'], ['--', 'x'], ['--1=2'], ['--a.b.c', '1'], ['---x', '1']])(
  'refuses %s %s',
  (...argv) => expect(() => parseArguments(argv)).toThrow(expect.objectContaining({ code: 'FLAG_WRONG' })),
)

test('names a flag without a value, and never shows a value after =', () => {
  expect(() => parseArguments(['--port'])).toThrow('--port has no value: write --port VALUE or --port=VALUE')
  for (const argv of [['--api_token=hunter2'], ['-p=hunter2'], ['--1=hunter2']])
    expect(() => parseArguments(argv)).toThrow(/^[^=]* is not a flag such as --threads 2 or --stats\.threads 2$/)
})

test('takes any value after = or a space unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const expected = [flag('kv', 'someName', value)]
      expect(parseArguments([`--kv.some-name=${value}`]).flags).toEqual(expected)
      expect(parseArguments(['--kv.someName', value]).flags).toEqual(expected)
    }),
  )
})
