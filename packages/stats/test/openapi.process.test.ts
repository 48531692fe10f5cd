import { testApiDocument } from '@influencer-stats/runtime/testing/api-document-tests'
import { testSettingDefaults } from '@influencer-stats/runtime/testing/setting-defaults'
import { listExamples, listOperations } from '@influencer-stats/runtime/testing/api-examples'
import { createValidator } from '@influencer-stats/runtime/validation'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { startStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'
import { stats as definition } from '../src/service.ts'

testSettingDefaults(definition)

const SAMPLE_ID = '99757a95-f758-499f-a170-bea93b2d8bcf'
const SAMPLE_CREATOR = 'UC0007000700070007000700'
let running: TestStats

testApiDocument(
  async () => {
    const source = await startStandIn()
    running = await startStats({ youtubeUri: source.url, youtubeApiKey: 'stand-in', data: createTemporaryFolder() })
    return {
      url: running.url,
      async stop() {
        await running.stop()
        await source.stop()
      },
    }
  },
  async (operationId) => {
    // Only a deleted collection can be restored.
    if (operationId === 'restoreCollection') await running.delete(`/collections/${SAMPLE_ID}`)
    // A fee makes a creator, too.
    if (operationId === 'getCreator')
      await running.put('/collections/fees', { videos: [], fees: [{ creator: SAMPLE_CREATOR, amount: 1 }] })
    return {}
  },
)

it('every example of the document conforms to its schema', async () => {
  const stats = await startStats({ youtubeUri: 'http://127.0.0.1:9', data: createTemporaryFolder(), threads: 0 })
  const { body: document } = await stats.get('/openapi.json')
  await stats.stop()
  const operations = listOperations(document).filter(({ path }) => /^\/(collections|creators|trash)/.test(path))
  expect(operations).not.toEqual([])
  for (const { operationId, parameters, requestBody, responses } of operations) {
    for (const parameter of parameters.filter((one) => one.in === 'path'))
      expect([operationId, listExamples(parameter).length]).toEqual([operationId, 1])
    const reply = responses['200']?.content['application/json']
    for (const content of [requestBody?.content['application/json'], reply].filter(Boolean)) {
      const validate = createValidator(content.schema, 'body')
      const examples = listExamples(content)
      expect([operationId, examples.length > 0]).toEqual([operationId, true])
      for (const example of examples)
        expect([operationId, validate(example), validate.errors]).toEqual([operationId, true, null])
    }
  }
})
