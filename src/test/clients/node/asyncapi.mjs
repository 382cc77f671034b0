// node asyncapi.mjs FILE: what AsyncAPI's own parser finds in a document; ends with 1 when it finds something.
import { fromFile, Parser } from '@asyncapi/parser';

const { document, diagnostics } = await fromFile(new Parser(), process.argv[2]).parse({ allowedSeverity: { warning: false } });
// That 3.1 is there is told as well, as information.
const faults = diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version');
faults.forEach(({ code, message, path }) => console.log(`${path.join('/')}: ${message} (${code})`));
process.exit(document && faults.length === 0 ? 0 : 1);
