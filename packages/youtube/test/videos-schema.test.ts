import { expect, it } from 'vitest'
import { listShape } from '../src/core/list-shape.ts'
import { parseFields } from '../src/core/field-mask.ts'
import { createVideosSchema } from '../src/routes/videos-schema.ts'

const { pattern, examples } = createVideosSchema([]).querystring.properties.fields

it.each([
  ...examples,
  '*',
  'items/statistics/viewCount',
  'items(id,statistics(viewCount))',
  'kind,pageInfo,items(*,statistics/*)',
])('the documented pattern of `fields` and the parser accept %s', (fields) => {
  expect(fields).toMatch(new RegExp(pattern))
  expect(() => parseFields(fields, listShape)).not.toThrow()
})

it.each(['items(', 'items/nope', 'items(id,statistics/nope)'])('neither accepts %s', (fields) => {
  expect(fields).not.toMatch(new RegExp(pattern))
  expect(() => parseFields(fields, listShape)).toThrow()
})
