// Live numbers of a campaign: node live-numbers.mjs [id of a collection]
import { createSseClient } from '@influencer-stats/client/sse'
import { createStatsClient } from '@influencer-stats/client/stats'

const { STATS_URL = 'http://localhost:8080', SSE_URL = 'http://localhost:8083', API_TOKEN: token } = process.env
const [id = 'live-example'] = process.argv.slice(2)
const stats = createStatsClient(STATS_URL, { token })

if (!(await stats.get(id))) {
  await stats.put(id, { name: 'Live example', videos: ['-4lB5EKS5Uk', 'https://youtu.be/goesviral26'] })
}
const sse = createSseClient(SSE_URL, { token })
for await (const item of sse.subscribe({ topics: [`collections/${id}`], last: true })) {
  if (item.kind === 'gap') continue // The current numbers follow.
  const { impressions, engagements, asOf, stale, source } = JSON.parse(item.value)
  if (impressions === undefined) continue // No numbers are known yet.
  process.stdout.write(
    `${asOf}  ${impressions.toLocaleString('en')} views  ${engagements.toLocaleString('en')} engagements  ` +
      `${source}${stale ? ', stale' : ''}\n`,
  )
}
