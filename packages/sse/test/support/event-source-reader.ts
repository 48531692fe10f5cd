/** An event as a page receives it. */
export interface ReceivedEvent {
  readonly type: string
  readonly data: string
  readonly lastEventId: string
}

/** Parses a stream line by line, as the HTML standard defines it ("Interpreting an event stream"). */
export class EventSourceReader {
  readonly events: ReceivedEvent[] = []
  lastEventId = ''
  retry: number | undefined
  comments = 0
  #input = ''
  #data = ''
  #type = ''
  #id = ''

  /** Id that clients other than EventSource keep: that of the last line `id`, also before the end of its block. */
  get latestId(): string {
    return this.#id
  }

  feed(text: string): void {
    this.#input += text
    for (let end; (end = /\r\n|\n|\r(?!$)/.exec(this.#input));) {
      const readLine = this.#input.slice(0, end.index)
      this.#input = this.#input.slice(end.index + end[0].length)
      this.#readLine(readLine)
    }
  }

  #readLine(readLine: string): void {
    if (readLine === '') return this.#dispatch()
    if (readLine.startsWith(':')) return void this.comments++
    const colon = readLine.indexOf(':')
    const field = colon < 0 ? readLine : readLine.slice(0, colon)
    const value = colon < 0 ? '' : readLine.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#type = value
    else if (field === 'data') this.#data += `${value}\n`
    else if (field === 'id' && !value.includes('\0')) this.#id = value
    else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value)
  }

  #dispatch(): void {
    this.lastEventId = this.#id
    if (this.#data !== '') {
      this.events.push({
        type: this.#type || 'message',
        data: this.#data.slice(0, -1),
        lastEventId: this.lastEventId,
      })
    }
    this.#data = ''
    this.#type = ''
  }
}
