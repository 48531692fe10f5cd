import { describe, expect, it } from 'vitest'
import { toFolderName } from '../src/report/results.ts'
import { parseSpec } from '../src/spec.ts'
import { selectTables, tables, workloads } from '../src/tables/all.ts'
import { assertKnownSpecs } from '../src/tables/assert-known-specs.ts'
import { findPair, findRow } from '../src/tables/find-row.ts'

describe('tables', () => {
  it('of a service have unique names', () => {
    const names = tables.map(({ service, name }) => `${service}/${name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(tables)('$service/$name: rows have files of their own, steps name rows', ({ rows, steps = [] }) => {
    const names = rows([]).map(({ name }) => name)
    expect(new Set(names.map(toFolderName)).size).toBe(names.length)
    const expectedNames = typeof steps === 'function' ? steps(names) : steps
    expect([...new Set(expectedNames.flat()).difference(new Set(names))]).toEqual([])
  })

  it.each(tables)('$service/$name: what a source says has a column, and a plotted size is a figure', (table) => {
    const said = table.rows([]).flatMap(({ source = {} }) => Object.keys(source))
    const columns = new Set(Object.keys(table.columns))
    const expectedNames = said.filter((name) => columns.has(`source: ${name}`))
    expect(expectedNames.length > 0).toBe(said.length > 0)
  })

  it("hold the source's two tables of streams whole", () => {
    const rowsOf = (name: string) => tables.find((table) => table.service === 'sse' && table.name === name)!.rows([])
    const sum = (name: string, metric: string) =>
      rowsOf(name).reduce((total, { source }) => total + Number(source![metric]), 0)
    expect([rowsOf('connections').length, rowsOf('values').length]).toEqual([9, 17])
    expect([sum('connections', 'grown'), sum('values', 'rejected')]).toEqual([1798, 8154])
  })

  it('about variants have each requested variant, and the peers once', () => {
    const specs = ['sse/v1', 'sse/v4'].map(parseSpec)
    const namesOf = (name: string) =>
      tables
        .find((table) => table.service === 'sse' && table.name === name)!
        .rows(specs)
        .map((row) => row.name)
    expect(namesOf('saturation')).toEqual(['v1', 'v4', 'better-sse', '@fastify/sse'])
    expect(namesOf('values')).toHaveLength(34)
  })
})

describe('what is asked for', () => {
  const nothing = { specs: [], full: false, peers: false, growth: false }
  const namesOf = (selection: Partial<Parameters<typeof selectTables>[0]>) =>
    selectTables({ ...nothing, ...selection }).map(({ service, name }) => `${service}/${name}`)

  it('is the usual tables, more of a service that is named, peers and growth alone', () => {
    expect(namesOf({})).toContain('kv/entity')
    expect(namesOf({})).not.toContain('cluster/writes')
    expect(namesOf({ specs: [{ service: 'cluster' }] })).toEqual(['cluster/writes', 'cluster/views'])
    expect(namesOf({ peers: true, specs: [{ service: 'stats' }] })).toEqual(['stats/peers'])
    expect(namesOf({ growth: true, specs: [{ service: 'prices' }] })).toEqual(['prices/growth-prices'])
  })

  it('is every table of a service in one run', () => {
    for (const service of new Set(tables.map((table) => table.service))) {
      const all = tables.filter((table) => table.service === service).map(({ name }) => `${service}/${name}`)
      expect(namesOf({ full: true, peers: true, growth: true, specs: [{ service }] })).toEqual(all)
    }
  })

  it('is tables by their names, or nothing that there is', () => {
    expect(namesOf({ table: 'kv/entity,growth-topics' })).toEqual(['kv/entity', 'sse/growth-topics'])
    expect(() => namesOf({ table: 'entity', specs: [{ service: 'stats' }] })).toThrow(
      'there is no table entity; there are stats/read',
    )
    expect(() => namesOf({ table: 'kv/entity,nothing' })).toThrow('there is no table nothing; there are')
  })
})

describe('a spec', () => {
  it.each(['stats', 'stats/v1', 'stats/v5,client=batching', 'sse/v6', 'cluster'])(
    'with known names passes: %s',
    (text) => expect(assertKnownSpecs([parseSpec(text)])).resolves.toBeUndefined(),
  )

  it.each([
    ['stats/v99', /no variant .*v99.*known: v1, v2/],
    ['stats/v5,client=nothing', /not one of fetch, /],
    ['stats/v5,clients=batching', 'did you mean --stats.client?'],
    ['cluster/v1', 'cluster has no variants'],
  ])('with an unknown name is refused: %s', (text, message) =>
    expect(assertKnownSpecs([parseSpec(text)])).rejects.toThrow(message),
  )
})

describe('a row', () => {
  it.each(
    Object.entries(workloads).flatMap(([service, ofService]) => Object.keys(ofService).map((work) => [service, work])),
  )('of any variant has a load that can be looked at: %s, %s', (service, work) => {
    const { row } = findRow(parseSpec(`${service}/v1/${work}`))
    expect(row.name).toBe(`${service}/v1/${work}`)
    expect(row.says).toMatch(/\w/)
  })

  it('is named by its variant and workload, or as the file of its result', () => {
    expect(findRow(parseSpec('kv/v4,cacheMegabytes=8/get-full')).row.target.name).toBe('kv/v4,cacheMegabytes=8')
    expect(findRow(parseSpec('stats/v4')).row.name).toBe('stats/v4/read')
    expect(findRow(parseSpec('stats/bare-node-http/server-adapters')).row.target.name).toBe('bare node:http')
    expect(findRow(parseSpec('prices/bitset/lookups')).row.target.name).toBe('bitset')
    expect(() => findRow(parseSpec('kv/v4/nothing'))).toThrow('get-full')
    expect(() => findRow(parseSpec('nothing/v4'))).toThrow('nothing')
  })
})

describe('a comparison', () => {
  const namesOf = (...texts: string[]) => findPair(texts).map(({ row }) => row.name)

  it.each(
    tables.flatMap(({ service, name, rows, steps = [] }) => {
      const pairs = typeof steps === 'function' ? steps(rows([]).map((row) => row.name)) : steps
      return pairs.map(([of, against]) => `${service}/${name}: ${of} / ${against}`)
    }),
  )('takes the name of a ratio as tables print it: %s', (ratio) => {
    const [, table, rows] = /^(.+?): (.+)$/.exec(ratio)!
    expect(namesOf(ratio)).toEqual(rows!.split(' / ').map((row) => `${table}: ${row}`))
  })

  it('takes two rows, by their printed names or specs', () => {
    expect(namesOf('kv/entity: GET', 'kv/entity: bare GET')).toEqual(['kv/entity: GET', 'kv/entity: bare GET'])
    expect(namesOf('kv/v4/get-full', 'kv/v5/get-full')).toEqual(['kv/v4/get-full', 'kv/v5/get-full'])
    expect(namesOf('kv/entity: GET, 64 connections', 'kv/entity: bare GET')).toEqual([
      'kv/entity: GET',
      'kv/entity: bare GET',
    ])
    expect(namesOf('kv/entity: GET', 'kv/v4/get-full')).toEqual(['kv/entity: GET', 'kv/v4/get-full'])
  })

  it.each([
    [['kv/entity: Get', 'kv/entity: GET'], 'its rows are\n  kv/entity: GET\n'],
    [['kv/entities: GET', 'kv/entity: GET'], 'there is no table kv/entities; there are stats/read'],
    [[], 'compare takes two rows, or the name of a ratio'],
    [['stats/v1'], 'compare takes two rows, or the name of a ratio'],
    [['kv/entity: GET'], 'compare takes two rows, or the name of a ratio'],
    [
      ['kv/entity: GET', 'kv/entity: PUT'],
      'kv/entity: GET answers 200, kv/entity: PUT answers 201: they cannot be compared',
    ],
    [['kv/entity: GET', 'sse/steady: default'], 'have different figures'],
    [['kv/entity: bare GET', 'stats/read: v8'], 'they cannot be compared'],
  ])('is refused: %j', (texts, message) => {
    expect(() => findPair(texts)).toThrow(message)
  })
})
