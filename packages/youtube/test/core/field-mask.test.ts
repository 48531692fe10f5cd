import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyMask, parseFields, type FieldShape } from '../../src/core/field-mask.ts'
import { createListShape } from '../../src/lists/list-shape.ts'
import { GoogleError } from '../../src/core/google-errors.ts'
import { videosResource } from '../../src/resources/videos-resource.ts'
import { createList } from '../support/list.ts'

const list = createList(videosResource, 'part=snippet,statistics,status,contentDetails&id=abcdefghijk,-4lB5EKS5Uk')
const listShape = createListShape(videosResource.shape)

const mask = (text: string) => applyMask(list, parseFields(text, listShape)) as any

const getParseError = (text: string) => {
  try {
    parseFields(text, listShape)
  } catch (problem) {
    if (problem instanceof GoogleError) return problem.entry
    throw problem
  }
  return undefined
}

describe('fields', () => {
  it('selects the named fields', () => {
    expect(mask('items(id,statistics(viewCount,likeCount))').items[0]).toEqual({
      id: 'abcdefghijk',
      statistics: { viewCount: expect.any(String), likeCount: expect.any(String) },
    })
    expect(mask('items/statistics/viewCount,kind')).toEqual({
      kind: 'youtube#videoListResponse',
      items: [
        { statistics: { viewCount: list.items[0].statistics.viewCount } },
        { statistics: { viewCount: '261734' } },
      ],
    })
    expect(mask('items/snippet/thumbnails(default/url,high(width))').items[1].snippet.thumbnails).toEqual({
      default: { url: 'https://i.ytimg.com/vi/-4lB5EKS5Uk/default.jpg' },
      high: { width: 480 },
    })
  })

  it('accepts * for every field', () => {
    expect(mask('*')).toEqual(list)
    expect(mask('items/*')).toEqual({ items: list.items })
    expect(mask('items(*)')).toEqual({ items: list.items })
    // Among the parts of a video, only statistics has such a field.
    expect(mask('items/*/viewCount').items[1]).toEqual(
      expect.objectContaining({ statistics: { viewCount: '261734' }, snippet: {} }),
    )
    expect(mask('items/snippet/*/title').items[1].snippet).toEqual({
      localized: { title: list.items[1].snippet.title },
      thumbnails: {},
    })
  })

  it('selects a field named twice once, and all of it if one of the two selects all', () => {
    expect(mask('items(id),items(id),items/statistics/viewCount,items/statistics').items[1]).toEqual({
      id: '-4lB5EKS5Uk',
      statistics: list.items[1].statistics,
    })
  })

  it('leaves values empty that have none of the fields', () => {
    expect(mask('items/topicDetails')).toEqual({ items: [{}, {}] })
    expect(mask('nextPageToken')).toEqual({})
  })

  it.each([
    'nope',
    'items(id',
    'items(id))',
    'items()',
    'items/',
    ',',
    'items,,kind',
    'items/id/x',
    'kind(x)',
    '',
    ' id',
  ])('refuses %j', (text) => {
    expect(getParseError(text)).toMatchObject({ status: 400, reason: 'invalidParameter', location: 'fields' })
  })

  it('names the field that does not exist', () => {
    expect(getParseError('items(id,statistics/nope)')).toMatchObject({ message: 'Invalid field selection nope' })
  })

  it('selects exactly the named paths, in either notation', () => {
    const paths = fc.uniqueArray(fc.constantFrom(...listPaths(listShape)), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(paths, (chosen) => {
        const expected = selectPaths(list, chosen)
        expect(mask(chosen.map((path) => path.join('/')).join(','))).toEqual(expected)
        expect(mask(toNestedSyntax(chosen))).toEqual(expected)
      }),
    )
  })

  it('accepts any text or refuses it with that error', () => {
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom('items', 'id', '(', ')', '/', ',', '*', 'x')).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (fields) => {
        const { reason } = getParseError(fields) ?? { reason: 'invalidParameter' }
        expect(reason).toBe('invalidParameter')
      }),
      { numRuns: 1_000 },
    )
  })
})

/** All existing paths, to fields with and without nested fields. */
function listPaths(shape: FieldShape, before: string[] = []): string[][] {
  if (typeof shape === 'string') return []
  return Object.entries(shape).flatMap(([name, below]) => {
    const path = [...before, name]
    return [path, ...listPaths(below, path)]
  })
}

/** The simplest specification: a value is selected if a chosen path leads to it or through it. */
function selectPaths(value: any, chosen: string[][], path: string[] = []): any {
  if (chosen.some((one) => one.length <= path.length && one.every((name, i) => name === path[i]))) return value
  if (Array.isArray(value)) return value.map((item) => selectPaths(item, chosen, path))
  const entries = Object.entries(value).flatMap(([name, field]) => {
    const here = [...path, name]
    const leads = chosen.some((one) => here.every((step, i) => i >= one.length || step === one[i]))
    return leads ? [[name, selectPaths(field, chosen, here)]] : []
  })
  return Object.fromEntries(entries)
}

/** Returns the same paths with parentheses. */
function toNestedSyntax(chosen: string[][]): string {
  const groups = Map.groupBy(chosen, ([name]) => name!)
  return [...groups]
    .map(([name, paths]) => {
      const below = paths.map((path) => path.slice(1))
      return below.some((path) => path.length === 0) ? name : `${name}(${toNestedSyntax(below)})`
    })
    .join(',')
}
