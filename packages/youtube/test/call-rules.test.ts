import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFailing } from '../src/core/faults.ts'
import { parseCall as parseListCall } from '../src/lists/list-call.ts'
import { GoogleError } from '../src/core/google-errors.ts'
import { videosResource } from '../src/resources/videos-resource.ts'

const parseCall = (text: string) => parseListCall(videosResource, text)

const listFailingCalls = (calls: number, rate: number) =>
  Array.from({ length: calls }, (_, n) => n).filter((n) => isFailing(n, rate))

describe('isFailing', () => {
  it('spaces failures evenly', () => {
    expect(listFailingCalls(8, 0.25)).toEqual([3, 7])
    expect(listFailingCalls(6, 0.5)).toEqual([1, 3, 5])
    expect(listFailingCalls(5, 0)).toEqual([])
    expect(listFailingCalls(5, 1)).toEqual([0, 1, 2, 3, 4])
    expect(listFailingCalls(100, 0.29)).toHaveLength(29)
  })

  it('fails exactly the requested share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 30 }), (percent, hundreds) => {
        expect(listFailingCalls(hundreds * 100, percent / 100)).toHaveLength(hundreds * percent)
      }),
    )
  })
})

describe('parseCall', () => {
  it('reads lists alike, joined by commas or given one by one as Google’s own clients do', () => {
    const some = (items: readonly string[]) => fc.array(fc.constantFrom(...items), { minLength: 1, maxLength: 9 })
    const cuts = fc.array(fc.boolean(), { minLength: 9, maxLength: 9 })
    fc.assert(
      fc.property(some(['a', 'b-_', 'c']), some(['id', 'statistics', 'snippet']), cuts, (ids, parts, cut) => {
        const list = (name: string, items: readonly string[]) =>
          items.reduce((text, item, i) => text + (i > 0 && cut[i] ? `,${item}` : `&${name}=${item}`), '')
        const joined = parseCall(`key=k&part=${parts.join(',')}&id=${ids.join(',')}`)
        expect(joined.query).not.toBeInstanceOf(GoogleError)
        expect(parseCall(`key=k${list('part', parts)}${list('id', ids)}`)).toEqual(joined)
      }),
    )
  })

  it('accepts lists with commas, as repeated parameters, or both, and each id once', () => {
    const { query, idCount } = parseCall('part=id,snippet&part=statistics&id=b&id=a,b&key=k') as any
    expect([...query.parts]).toEqual(['id', 'snippet', 'statistics'])
    expect(query.ids).toEqual(['b', 'a'])
    expect(idCount).toBe(3)
  })

  it('answers any text with a query or one of Google’s errors', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { query } = parseCall(text)
        expect(query instanceof GoogleError || query.ids.length > 0).toBe(true)
      }),
    )
  })
})
