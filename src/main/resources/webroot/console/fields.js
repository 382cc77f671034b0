/**
 * Forms made of the contract's schemas.
 * @module
 */
import { html } from '../app/ui.js';
import { label, t, Told } from './texts.js';

/** So the contract's pattern of a day begins; its end is written as Java has it. */
const DAY = '^[0-9]{4}-[0-9]{2}-[0-9]{2}';

/** The kind of input for a value. @param {string} field a `from` and a `to` are times, unless their schema says otherwise */
function kindOf(schema, field) {
  const either = schema.oneOf?.find((each) => each.type !== 'null');
  if (either) {
    return kindOf(either, field);
  }
  const type = [schema.type].flat().find((each) => each !== 'null');
  if (schema.enum) {
    return 'choice';
  }
  if (type === 'string') {
    const isTime = schema.format === 'date-time' || (['from', 'to'].includes(field) && !schema.format && !schema.pattern);
    return isTime ? 'time' : schema.pattern?.startsWith(DAY) ? 'date' : 'text';
  }
  if (type === 'array' && schema.items?.type === 'string') {
    return 'list';
  }
  return ['integer', 'boolean'].includes(type) ? type : 'json';
}

function read(kind, field, text) {
  switch (kind) {
    case 'integer':
      if (!/^-?\d{1,15}$/.test(text.replaceAll(/[,_ ]/g, ''))) {
        throw new Told(t('noValue', label(field)));
      }
      return Number(text.replaceAll(/[,_ ]/g, ''));
    case 'boolean':
      return text === 'true';
    case 'time':
      return new Date(text).toISOString();
    case 'list':
      return text.split(/[\s,，、]+/).filter(Boolean);
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw new Told(t('noValue', label(field)));
      }
    default:
      return text;
  }
}

/** The fields in an object of few, such as `caps.share`, are typed each for itself. */
function flat(schemas) {
  return Object.fromEntries(Object.entries(schemas).flatMap(([name, schema]) => (schema.type === 'object' && schema.properties
    ? Object.entries(schema.properties).map(([inner, of]) => [`${name}.${inner}`, of])
    : [[name, schema]])));
}

/**
 * What was typed, as the call takes it; what is empty is left out.
 * @param {object} schemas by name
 * @param {object} typed texts by name
 */
export function valuesOf(schemas, typed) {
  const values = {};
  for (const [name, schema] of Object.entries(flat(schemas))) {
    const text = typed[name]?.trim() ?? '';
    if (text !== '') {
      const [outer, inner] = name.split('.');
      const value = read(kindOf(schema, name), name, text);
      values[outer] = inner ? { ...values[outer], [inner]: value } : value;
    }
  }
  return values;
}

function Control({ kind, schema, field, value, onInput, required }) {
  const all = { id: `field-${field}`, name: field, value, required, onInput: (event) => onInput(event.target.value) };
  switch (kind) {
    case 'choice':
      return html`<select ...${all}><option value="">–</option>${schema.enum.map((each) => html`<option key=${each} value=${each}>${t(`w_${each}`)}</option>`)}</select>`;
    case 'boolean':
      return html`<select ...${all}><option value="">–</option><option value="true">${t('yes')}</option><option value="false">${t('no')}</option></select>`;
    case 'time':
      return html`<input type="datetime-local" step="1" ...${all} />`;
    case 'date':
      return html`<input type="date" ...${all} />`;
    case 'json':
      return html`<textarea rows="3" spellcheck="false" ...${all}></textarea>`;
    case 'integer':
      return html`<input inputmode="numeric" autocomplete="off" ...${all} />`;
    default:
      return html`<input autocomplete="off" spellcheck="false" maxlength=${kind === 'text' ? schema.maxLength : undefined} ...${all} />`;
  }
}

/**
 * A control for each field.
 * @param {{schemas: object, required?: string[], typed: object, onType: (typed: object) => void}} props
 */
export function Fields({ schemas, required = [], typed, onType }) {
  return Object.entries(flat(schemas)).map(([field, schema]) => {
    const kind = kindOf(schema, field);
    return html`<div class="field" key=${field}>
      <label for=${`field-${field}`}>${label(field)}${required.includes(field) && html`<em> ${t('needed')}</em>`}</label>
      <${Control} kind=${kind} schema=${schema} field=${field} required=${required.includes(field)} value=${typed[field] ?? ''}
        onInput=${(text) => onType({ ...typed, [field]: text })} />
      ${kind === 'list' && html`<p class="soft small">${t('listHint')}</p>`}
    </div>`;
  });
}
