import { parseTopicUrl, type TopicUrl } from './topic-url.ts'

/** A topic, with its URL if a pattern needs it. */
export class ParsedTopic {
  readonly text: string
  #base: string | undefined
  #url: TopicUrl | undefined

  constructor(text: string) {
    this.text = text
  }

  /** Returns undefined if the topic is not a URL. @param base the hub's URL, against which a relative topic is resolved */
  getUrl(base: string): TopicUrl | undefined {
    if (base !== this.#base) {
      this.#base = base
      this.#url = parseTopicUrl(this.text, base)
    }
    return this.#url
  }
}
