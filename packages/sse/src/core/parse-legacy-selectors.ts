import { ALL_TOPICS, createSelectors, type Selectors } from './selectors.ts'
import { TopicTemplate } from './patterns/topic-template.ts'

/** Parses topic selectors of the protocol 0.x: URI templates, topics, and `*`, which selects every topic. */
export function parseLegacySelectors(texts: readonly string[]): Selectors {
  const templates = texts.map((text) => TopicTemplate.parse(text))
  return createSelectors(
    texts.filter((text, i) => text !== ALL_TOPICS && !templates[i]),
    texts.includes(ALL_TOPICS) ? [''] : [],
    templates.filter((template) => template !== undefined),
  )
}
