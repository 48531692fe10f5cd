import type { many as english } from '../en/many.ts'
import type { Translation } from '../text-types.ts'

export const many: Translation<typeof english> = {
  'list.selectOne': '{name} auswählen',
  'list.selectAll': 'Alle auswählen',
  'list.part': 'Teil der Liste',
  'list.active': 'Aktiv',
  'list.archive': 'Archiv',
  'list.archiveNote': 'Archivierte Kampagnen behalten ihre Zahlen, die einmal pro Woche aktualisiert werden.',
  'list.archiveEmpty': 'Das Archiv enthält keine solche Kampagne.',
  'list.count': { one: '{count} Kampagne', other: '{count} Kampagnen' },
  'list.findNote': 'Der Browser durchsucht nur sichtbare Zeilen. Besser: das Suchfeld oben.',

  'views.label': 'Gespeicherte Ansichten',
  'views.save': 'Ansicht speichern',
  'views.saveTitle': 'Ansicht speichern',
  'views.note': 'Die Reihenfolge, die Suche und die Filter der Liste. Alle sehen die Ansicht.',
  'views.remove': 'Ansicht entfernen',
  'views.removed': 'Ansicht {name} entfernt.',

  'bulk.label': 'Auswahl',
  'bulk.count': { one: '{count} ausgewählt', other: '{count} ausgewählt' },
  'bulk.all': { one: '{count} auswählen', other: 'Alle {count} auswählen' },
  'bulk.clear': 'Aufheben',
  'bulk.tag': 'Tag',
  'bulk.addTag': 'Tag hinzufügen',
  'bulk.archive': 'Archivieren',
  'bulk.unarchive': 'Aus dem Archiv holen',
  'bulk.delete': 'Löschen',
  'bulk.tagged': { one: '{count} Kampagne hat jetzt das Tag.', other: '{count} Kampagnen haben jetzt das Tag.' },
  'bulk.untagged': {
    one: 'Das Tag wurde von {count} Kampagne entfernt.',
    other: 'Das Tag wurde von {count} Kampagnen entfernt.',
  },
  'bulk.archived': { one: '{count} Kampagne archiviert.', other: '{count} Kampagnen archiviert.' },
  'bulk.unarchived': { one: '{count} Kampagne ist wieder aktiv.', other: '{count} Kampagnen sind wieder aktiv.' },
  'bulk.deleted': { one: '{count} Kampagne liegt im Papierkorb.', other: '{count} Kampagnen liegen im Papierkorb.' },
  'bulk.restored': { one: '{count} Kampagne wiederhergestellt.', other: '{count} Kampagnen wiederhergestellt.' },
  'bulk.partly': {
    one: '{made} {count} blieb unverändert: {reason}',
    other: '{made} {count} blieben unverändert: {reason}',
  },
  'bulk.none': {
    one: '{count} Kampagne blieb unverändert: {reason}',
    other: '{count} Kampagnen blieben unverändert: {reason}',
  },
  'undo.failed': '{change} Das ließ sich nicht rückgängig machen. {reason}',

  'trash.title': 'Papierkorb',
  'trash.note':
    'Gelöschte Kampagnen lassen sich eine Zeit lang wiederherstellen. Bis dahin zeigen ihre Kundenlinks nichts.',
  'trash.none': 'Der Papierkorb ist leer.',
  'trash.times': 'gelöscht {deleted}, wiederherstellbar bis {expires}',
  'trash.restore': 'Wiederherstellen',
  'trash.restoreOne': 'Wiederherstellen: {name}',
  'trash.delete': 'Endgültig löschen',
  'trash.deleteOne': 'Endgültig löschen: {name}',
  'trash.deleteNow': 'Jetzt löschen',
  'trash.deleteNote':
    '{name} wird sofort mit allen Zahlen, dem Verlauf und den Links gelöscht. Das lässt sich nicht rückgängig machen.',
}
