import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'

const PAGE_HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Broadcaster</title>
<p>The console of this page shows every published value: <code>curl '/put?v=hello'</code>.</p>
<iframe style="display:none"></iframe>
<script>
// The frame never finishes loading. If it began earlier, the page would not either.
addEventListener('load', () => setTimeout(() => (document.querySelector('iframe').src = '/wait?cid=1')))
</script>
</html>
`

/**
 * Registers a page whose hidden frame logs every value. It shows the comet stream, which pages used before EventSource.
 */
export function registerPageRoute(app: App): void {
  app.get(
    '/',
    {
      schema: {
        tags: ['streams'],
        operationId: 'getPage',
        summary: 'Page that logs every value to its console',
        response: {
          200: { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } },
          ...buildReadReplies(),
        },
      },
    },
    async (_request, reply) => reply.type('text/html; charset=utf-8').send(PAGE_HTML),
  )
}
