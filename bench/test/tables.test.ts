import { describe, expect, it } from 'vitest'
import { folderName } from '../src/report/results.ts'
import { parseSpec } from '../src/spec.ts'
import { rowOf, tables, works } from '../src/tables/all.ts'
import { wantedTables } from '../src/tables/wanted.ts'

describe('tables', () => {
  it('of a service have names of their own', () => {
    const names = tables.map(({ service, name }) => `${service}/${name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(tables)('$service/$name: rows have files of their own, steps name rows', ({ rows, steps = [] }) => {
    const names = rows([]).map(({ name }) => name)
    expect(new Set(names.map(folderName)).size).toBe(names.length)
    const told = typeof steps === 'function' ? steps(names) : steps
    expect([...new Set(told.flat()).difference(new Set(names))]).toEqual([])
  })

  it.each(tables)('$service/$name: what a source says has a column, and a plotted size is a figure', (table) => {
    const said = table.rows([]).flatMap(({ source = {} }) => Object.keys(source))
    const columns = new Set(Object.keys(table.columns))
    const told = said.filter((name) => columns.has(`source: ${name}`))
    if (said.length > 0) expect(told).not.toEqual([])
  })

  it("hold the source's two tables of streams whole", () => {
    const rowsOf = (name: string) => tables.find((table) => table.service === 'sse' && table.name === name)!.rows([])
    const sum = (name: string, figure: string) =>
      rowsOf(name).reduce((total, { source }) => total + Number(source![figure]), 0)
    expect([rowsOf('connections').length, rowsOf('values').length]).toEqual([9, 17])
    expect([sum('connections', 'grown'), sum('values', 'rejected')]).toEqual([1798, 8154])
  })

  it('about variants have each that was asked for, the peers once', () => {
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
  const namesOf = (asked: Partial<Parameters<typeof wantedTables>[0]>) =>
    wantedTables({ ...nothing, ...asked }).map(({ service, name }) => `${service}/${name}`)

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
    expect(() => namesOf({ table: 'entity', specs: [{ service: 'stats' }] })).toThrow('no such table of stats')
  })
})

describe('a row', () => {
  it.each(
    Object.entries(works).flatMap(([service, ofService]) => Object.keys(ofService).map((work) => [service, work])),
  )('of any variant has a load that can be looked at: %s, %s', (service, work) => {
    const { row } = rowOf(parseSpec(`${service}/v1/${work}`))
    expect(row.name).toBe(`${service}/v1/${work}`)
    expect(row.says).toMatch(/\w/)
  })

  it('is named by its variant and workload, or as the file of its result', () => {
    expect(rowOf(parseSpec('kv/v4,cacheMegabytes=8/get-full')).row.contender.name).toBe('kv/v4,cacheMegabytes=8')
    expect(rowOf(parseSpec('stats/v4')).row.name).toBe('stats/v4/read')
    expect(rowOf(parseSpec('stats/bare-node-http/door')).row.contender.name).toBe('bare node:http')
    expect(rowOf(parseSpec('prices/bitset/lookups')).row.contender.name).toBe('bitset')
    expect(() => rowOf(parseSpec('kv/v4/nothing'))).toThrow('get-full')
    expect(() => rowOf(parseSpec('nothing/v4'))).toThrow('nothing')
  })
})
