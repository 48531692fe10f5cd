import { describedWell } from '@influencer-stats/runtime/testing/described'
import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { examplesOf, operationsOf } from '@influencer-stats/runtime/testing/openapi'
import { validatorOf } from '@influencer-stats/runtime/validation'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { expect, it } from 'vitest'
import { startStandIn } from './support/stand-in.ts'
import { startStats } from './support/stats.ts'
import { stats as definition } from '../src/service.ts'

settingsFit(definition)

describedWell(async () => {
  const source = await startStandIn()
  const stats = await startStats({ youtubeUri: source.url, youtubeApiKey: 'stand-in', data: temporaryFolder() })
  return {
    url: stats.url,
    async stop() {
      await stats.stop()
      await source.stop()
    },
  }
})

it('every example of the document fits what it is an example of', async () => {
  const stats = await startStats({ youtubeUri: 'http://127.0.0.1:9', data: temporaryFolder(), threads: 0 })
  const { body: document } = await stats.get('/openapi.json')
  await stats.stop()
  const operations = operationsOf(document).filter(({ path }) => path.startsWith('/collections'))
  expect(operations).toHaveLength(12)
  for (const { operationId, parameters, requestBody, responses } of operations) {
    for (const parameter of parameters.filter((one) => one.in === 'path'))
      expect([operationId, examplesOf(parameter).length]).toEqual([operationId, 1])
    const reply = responses['200']?.content['application/json']
    for (const content of [requestBody?.content['application/json'], reply].filter(Boolean)) {
      const validate = validatorOf(content.schema, 'body')
      const examples = examplesOf(content)
      expect([operationId, examples.length > 0]).toEqual([operationId, true])
      for (const example of examples)
        expect([operationId, validate(example), validate.errors]).toEqual([operationId, true, null])
    }
  }
})
