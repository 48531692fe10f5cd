import { defineService } from '@influencer-stats/runtime/service'
import { sampleShape } from './core/sample.ts'
import type { ToMain, ToThread } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** A search that the sample catalog answers with one price; the first row of the sample. */
function exampleBody(): string {
  const { offerings, chars } = sampleShape(1)
  const charValues = chars.map(([char, [value]]) => ({ char, value }))
  return JSON.stringify({ offeringId: offerings[0], groupId: 'group1', priceSpecId: 'MRC', charValues })
}

/** The one price that fits, among millions. */
export const prices = defineService<typeof settings, ToMain, ToThread>({
  name: 'prices',
  summary: 'finds the one price that fits eight conditions and more',
  port: 8084,
  settings,
  variants,
  example: (url) => `curl -H 'content-type: application/json' ${url}/v1/search/bitmap/prices -d '${exampleBody()}'`,
  open: async (context) => (await import('./main.ts')).openPrices(context),
  app: async (context) => (await import('./app.ts')).createPricesApp(context),
})
