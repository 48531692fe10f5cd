import { chromium } from 'playwright-core'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { printMessage, runClient, sendByFetch } from './client-program.ts'

const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
const page = await browser.newPage()
const openOrigin = (url: string) => page.goto(new URL('/version', url).href)

await runClient(
  async (url) => {
    await page.exposeFunction('printMessage', printMessage)
    page.on('response', (response) => void process.stderr.write(`${response.status()} ${response.url()}\n`))
    page.on('requestfailed', (request) => void process.stderr.write(`${request.failure()?.errorText}\n`))
    await page.exposeFunction('giveUp', () => process.exit(1))
    await openOrigin(url)
    await page.evaluate(`
      window.source = new EventSource(${JSON.stringify(url)})
      for (const event of ['message', 'gap', 'closed']) {
        source.addEventListener(event, ({ data, lastEventId }) => printMessage({ id: lastEventId, event, data }))
      }
      source.addEventListener('error', () => source.readyState === EventSource.CLOSED && giveUp())
    `)
  },
  async (...args) => {
    await openOrigin(args[0])
    const id = await page.evaluate<string>(`(${sendByFetch})(...${JSON.stringify(args)})`)
    await browser.close()
    return id
  },
)
