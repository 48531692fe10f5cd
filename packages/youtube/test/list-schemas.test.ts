import { expect, it } from 'vitest'
import { createListShape } from '../src/lists/list-shape.ts'
import { resources } from '../src/resources/resources.ts'
import { videosResource } from '../src/resources/videos-resource.ts'
import { parseFields } from '../src/core/field-mask.ts'
import { createListSchema } from '../src/routes/list-schemas.ts'

const { pattern, examples } = createListSchema(videosResource, []).querystring.properties.fields
const listShape = createListShape(videosResource.shape)

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

it.each(resources)('the documented examples of `fields` of $name are valid', (resource) => {
  const fields = createListSchema(resource, []).querystring.properties.fields
  for (const example of fields.examples) {
    expect(example).toMatch(new RegExp(fields.pattern))
    expect(() => parseFields(example, createListShape(resource.shape))).not.toThrow()
  }
})
