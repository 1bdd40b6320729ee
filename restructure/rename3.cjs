// node rename3.cjs LIST [--check]
const root=require("path").join(__dirname,".."); const req=require("module").createRequire(root+"/package.json");
const ts=req("typescript"); const fs=require("fs"); const {posix}=require("path"); const {execFileSync}=require("child_process");
process.chdir(root); const SK=ts.SyntaxKind;
const files=execFileSync("git",["ls-files","*.ts"],{encoding:"utf8"}).trim().split("\n").filter(f=>fs.existsSync(f));
const set=new Set(files);
const texts=new Map(files.map(f=>[f,fs.readFileSync(f,"utf8")]));
const work=[];
for(const line of fs.readFileSync(process.argv[2],"utf8").split("\n")){if(!line.trim()||line.startsWith("#"))continue;const[file,...p]=line.trim().split(/\s+/);for(const x of p){let[name,to]=x.split(":");const pub=to.endsWith("!");if(pub)to=to.slice(0,-1);work.push({file,name,to,pub})}}
const trees=new Map();const parse=f=>{if(!trees.has(f))trees.set(f,ts.createSourceFile(f,texts.get(f),ts.ScriptTarget.Latest,true));return trees.get(f)};
const checkers=new Map();
function checkerOf(f){if(checkers.has(f))return checkers.get(f);const src=parse(f);
 const host={getSourceFile:n=>n===f?src:undefined,getDefaultLibFileName:()=>"lib.d.ts",writeFile(){},getCurrentDirectory:()=>root,getCanonicalFileName:x=>x,useCaseSensitiveFileNames:()=>true,getNewLine:()=>"\n",fileExists:n=>n===f,readFile:()=>undefined};
 const p=ts.createProgram({rootNames:[f],options:{noResolve:true,noLib:true,target:99,module:99,types:[]},host});const c=p.getTypeChecker();checkers.set(f,c);return c}
const resolve=(u,spec)=>{if(!spec?.startsWith("."))return;const r=posix.join(posix.dirname(u),spec);for(const c of [r.replace(/\.js$/,".ts"),r+".ts",r])if(set.has(c))return c};
const edits=new Map();const add=(f,start,len,text)=>{const m=edits.get(f)??edits.set(f,new Map()).get(f);m.set(start,{start,len,text})};
const idsIn=new Map();const ids=f=>{if(!idsIn.has(f)){const s=new Map();const v=n=>{if(ts.isIdentifier(n)){(s.get(n.text)??s.set(n.text,[]).get(n.text)).push(n)}ts.forEachChild(n,v)};v(parse(f));idsIn.set(f,s)}return idsIn.get(f)};
const isMember=n=>{const p=n.parent;return (ts.isPropertyAccessExpression(p)&&p.name===n)||(ts.isQualifiedName(p)&&p.right===n)||((ts.isPropertySignature(p)||ts.isPropertyAssignment(p)||ts.isPropertyDeclaration(p)||ts.isMethodDeclaration(p)||ts.isMethodSignature(p)||ts.isGetAccessor(p)||ts.isSetAccessor(p)||ts.isEnumMember(p)||ts.isNamedTupleMember(p))&&p.name===n)||(ts.isBindingElement(p)&&p.propertyName===n)};
let bad=0;const say=(...a)=>{console.log(...a);bad++};
const affected=new Map(); // name -> files
// rename the binding `sym` in file f
function renameBinding(f,name,to,pred){
 if((ids(f).get(to)??[]).some(n=>!isMember(n)))say("TAKEN",to,"for",name,"in",f);
 const c=checkerOf(f);let n=0;
 const isOurs=node=>{const p=node.parent;let s;
  if(ts.isShorthandPropertyAssignment(p))s=c.getShorthandAssignmentValueSymbol(p);
  else if(ts.isExportSpecifier(p)&&!p.parent.parent.moduleSpecifier)s=(p.propertyName??p.name)===node?c.getExportSpecifierLocalTargetSymbol(p):undefined;
  else s=c.getSymbolAtLocation(node);
  return s&&pred(s)};
 for(const node of ids(f).get(name)??[]){ if(isMember(node))continue; const p=node.parent;
  if(ts.isImportSpecifier(p)||ts.isExportSpecifier(p)&&p.parent.parent.moduleSpecifier)continue;
  if(ts.isBindingElement(p)&&p.name===node){/* local */ if(isOurs(node))say("BINDING?",f,name);continue}
  if(!isOurs(node))continue;
  if(ts.isShorthandPropertyAssignment(p)){add(f,node.getStart(),name.length,`${name}: ${to}`)}
  else if(ts.isExportSpecifier(p)){ if(!p.propertyName)say("LOCALEXPORT",f,name); add(f,node.getStart(),name.length,p.propertyName?to:`${to} as ${name}`)}
  else add(f,node.getStart(),name.length,to);
  n++;}
 (affected.get(name+">"+to)??affected.set(name+">"+to,new Set()).get(name+">"+to)).add(f);
 return n}
function renameExport(file,name,to,pub,seen=new Set()){ if(seen.has(file))return;seen.add(file);
 for(const u of files){ const t=texts.get(u); if(!t.includes(name))continue;
  for(const s of parse(u).statements){ const spec=s.moduleSpecifier?.text; if(!spec||resolve(u,spec)!==file)continue;
   const nb=s.importClause?.namedBindings??s.exportClause;
   if(nb&&ts.isNamespaceImport(nb)){for(const node of ids(u).get(name)??[]){const p=node.parent;if((ts.isPropertyAccessExpression(p)&&p.name===node&&p.expression.getText()===nb.name.text)||(ts.isQualifiedName(p)&&p.right===node&&p.left.getText()===nb.name.text))add(u,node.getStart(),name.length,to)};continue}
   if(ts.isExportDeclaration(s)&&!s.exportClause){say("STAR",u,file);continue}
   for(const e of nb?.elements??[]){ if((e.propertyName??e.name).text!==name)continue;
    const node=e.propertyName??e.name;
    if(ts.isImportSpecifier(e)){
     if(e.propertyName){ if(e.name.text===to){add(u,e.propertyName.getStart(),e.name.end-e.propertyName.getStart(),to)} else add(u,node.getStart(),name.length,to);continue}
     add(u,node.getStart(),name.length,to);
     renameBinding(u,name,to,sym=>sym.declarations?.includes(e));
    } else { // re-export
     const isPublic=/^(components|automation)\/index\.ts$/.test(u)||/^packages\/\w+\/index\.ts$/.test(u)||u==="index.ts";
     if(e.propertyName){add(u,node.getStart(),name.length,to);continue}
     if(isPublic&&!pub){say("PUBLIC",u,name,"->",to);}
     add(u,node.getStart(),name.length,isPublic&&!pub?`${to} as ${name}`:to);
     if(!(isPublic&&!pub))renameExport(u,name,to,pub,seen);
    }}}
  // typeof import("./x.js").name
  const re=/import\("([^"]+)"\)\)?(?:\.|;)/g; if(/import\("\.[^"]*"\)/.test(t)){for(const node of ids(u).get(name)??[]){const p=node.parent;
    if(ts.isImportTypeNode(p)&&resolve(u,p.argument.literal?.text)===file)add(u,node.getStart(),name.length,to);}
    for(const m of t.matchAll(/import\("(\.[^"]*)"\)/g))if(resolve(u,m[1])===file)console.log("DYNAMIC",u,name)}
 }}
function topDecl(f,name){const out=[];for(const s of parse(f).statements){if(s.name?.text===name)out.push(s);if(ts.isVariableStatement(s))for(const d of s.declarationList.declarations){if(d.name.text===name)out.push(d);else if(ts.isObjectBindingPattern(d.name)&&d.name.elements.some(e=>e.name.text===name))say("PATTERN",f,name)}}return out}
const isExported=d=>{const s=ts.isVariableDeclaration(d)?d.parent.parent:d;return s.modifiers?.some(m=>m.kind===SK.ExportKeyword)};
for(const w of work){
 if(!set.has(w.file)){say("NOFILE",w.file);continue}
 if(w.name.startsWith(".")){ // member, everywhere (or only in its file with =)
  const name=w.name.slice(1);let decl=[],n=0;
  for(const f of files){if(!texts.get(f).includes(name))continue;for(const node of ids(f).get(name)??[]){const p=node.parent;
   const decls=(ts.isPropertySignature(p)||ts.isPropertyDeclaration(p)||ts.isMethodDeclaration(p)||ts.isMethodSignature(p)||ts.isGetAccessor(p))&&p.name===node||(ts.isParameter(p)&&p.name===node&&p.modifiers?.length);
   if(isMember(node)||decls){if(decls)decl.push(f+":"+(parse(f).getLineAndCharacterOfPosition(node.getStart()).line+1));add(f,node.getStart(),name.length,w.to);n++}
   else if(ts.isShorthandPropertyAssignment(p)){add(f,node.getStart(),name.length,`${w.to}: ${name}`);n++}
   else if(ts.isBindingElement(p)&&p.name===node&&!p.propertyName&&ts.isObjectBindingPattern(p.parent)){add(f,node.getStart(),name.length,`${w.to}: ${name}`);n++}
   (affected.get(name+">"+w.to)??affected.set(name+">"+w.to,new Set()).get(name+">"+w.to)).add(f);
  }}
  console.log("MEMBER",name,"->",w.to,n,"places; declared in",decl.join(" "));continue}
 const ds=topDecl(w.file,w.name);if(!ds.length){say("GONE",w.file,w.name);continue}
 renameBinding(w.file,w.name,w.to,sym=>sym.declarations?.some(d=>ds.includes(d)));
 if(ds.some(isExported))renameExport(w.file,w.name,w.to,w.pub);
}
console.log(work.length,"names;",bad,"problems");
if(process.argv.includes("--check"))process.exit();
let n=0;for(const [f,m] of edits){let t=texts.get(f);for(const e of [...m.values()].sort((a,b)=>b.start-a.start))t=t.slice(0,e.start)+e.text+t.slice(e.start+e.len);texts.set(f,t);n++}
// comments
for(const [key,fs2] of affected){const[name,to]=key.split(">");const compound=/[a-z][A-Z]/.test(name);
 for(const f of fs2){let t=texts.get(f);
  const re=compound?new RegExp(`(?<![\\w.$"'\`/-])${name}(?![\\w$])|\`${name}(?=[\`.(])`,"g"):new RegExp("`"+name+"(?=`|\\(\\)`)","g");
  const u=t.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g,c=>c.replace(new RegExp(`(@link ${name})(?![\\w])`,"g"),"@link "+to).replace(re,m=>{console.log("COMMENT",f,name,"->",to);return m.startsWith("`")?"`"+to:to}).replace(new RegExp(`(@param )${name}\\b`),(m)=>m));
  if(u!==t){texts.set(f,u);if(!edits.has(f))edits.set(f,new Map())}}}
for(const f of edits.keys())fs.writeFileSync(f,texts.get(f));
fs.writeFileSync("restructure/changed3.txt",[...edits.keys()].join("\n"));
console.log(n,"files changed");
