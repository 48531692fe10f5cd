import { fetchEventSource } from '@microsoft/fetch-event-source'
import { printMessage, runClient } from './client-program.ts'

class StreamEnd extends Error {}

// The library is for pages: in Node it needs a `window`, and must not ask for the visibility of a document.
Object.assign(globalThis, { window: globalThis })

await runClient((url) =>
  fetchEventSource(url, {
    openWhenHidden: true,
    onmessage: ({ id, event, data }) => printMessage({ id, event: event || 'message', data }),
    // It reconnects after an error. A clean end is none, unless this function throws.
    onclose() {
      throw new StreamEnd()
    },
  }),
)
