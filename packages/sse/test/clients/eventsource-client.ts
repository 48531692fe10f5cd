import { createEventSource } from 'eventsource-client'
import { printMessage, runClient } from './client-program.ts'

await runClient((url) =>
  createEventSource({
    url,
    onMessage: ({ id = '', event = 'message', data }) => printMessage({ id, event, data }),
  }),
)
