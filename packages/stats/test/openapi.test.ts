import { validatorOf } from '@influencer-stats/runtime/validation'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { expect, it } from 'vitest'
import { startStats } from './support/stats.ts'

/** An example is one value, several are named. */
const examplesOf = ({ example, examples, schema }: any): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples ?? {}).map((one: any) => one.value ?? one),
  ...(schema?.examples ?? []),
]

it('every route of the document has a name of its own, and examples that fit what they are examples of', async () => {
  const stats = await startStats({ youtubeUri: 'http://127.0.0.1:9', data: temporaryFolder(), threads: 0 })
  const { body: document } = await stats.get('/openapi.json')
  await stats.stop()
  const names: string[] = []
  for (const [path, operations] of Object.entries<any>(document.paths)) {
    if (!path.startsWith('/collections')) continue
    for (const { operationId, parameters = [], requestBody, responses } of Object.values<any>(operations)) {
      names.push(operationId)
      for (const parameter of parameters.filter((one: any) => one.in === 'path')) {
        expect([operationId, examplesOf(parameter).length]).toEqual([operationId, 1])
      }
      const reply = responses['200']?.content['application/json']
      for (const content of [requestBody?.content['application/json'], reply].filter(Boolean)) {
        const validate = validatorOf(content.schema, 'body')
        const examples = examplesOf(content)
        expect([operationId, examples.length > 0]).toEqual([operationId, true])
        for (const example of examples)
          expect([operationId, validate(example), validate.errors]).toEqual([operationId, true, null])
      }
    }
  }
  expect(names).toHaveLength(12)
  expect(new Set(names).size).toBe(12)
  for (const name of names) expect(name).toMatch(/^[a-z]+[A-Za-z]*$/)
})
