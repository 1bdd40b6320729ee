const fs=require("fs"),{posix}=require("path"),{execFileSync}=require("child_process");process.chdir(require("path").join(__dirname,".."));
const map=Object.fromEntries(fs.readFileSync("restructure/names3-files.txt","utf8").trim().split("\n").map(l=>{const[a,b]=l.split(" ");return[a,posix.join(posix.dirname(a),b)]}));
let files=execFileSync("git",["ls-files"],{encoding:"utf8"}).trim().split("\n");
const primary={...map};
for(const[a,b]of Object.entries(primary)){const base=a.replace(/\.\w+$/,"");const nb=b.replace(/\.\w+$/,"");
 for(const f of files){let m=/^test\/(?:unit|commands|engine|graph|lab|scripts)\/(.*)\.test\.ts$/.exec(f);let own=m&&m[1];
  const p=/^packages\/(\w+)\/test\/\w+\/(.*)\.test\.ts$/.exec(f);if(p)own=`packages/${p[1]}/${p[2]}`;
  if(own===base){map[f]=f.slice(0,f.length-".test.ts".length-posix.basename(base).length)+posix.basename(nb)+".test.ts"}}}
map["test/scripts/prepare-bastion.test.ts"]="test/scripts/bastion-logins-and-updates.test.ts";
for(const[a,b]of Object.entries(map))if(!files.includes(a))console.log("MISSING",a);else if(files.includes(b))console.log("EXISTS",b);
console.log(Object.keys(map).filter(k=>!primary[k]));
if(process.argv[2]==="--check")process.exit();
for(const f of files){ if(!/\.(ts|mjs|cjs|md|json|sh|js|py|txt|toml)$/.test(f)||f==="package-lock.json"||/^docs\/decisions\//.test(f)||!fs.existsSync(f)||fs.lstatSync(f).isSymbolicLink())continue;
 if(/\.sh$/.test(f)&&/programs\//.test(f))continue;
 const t=fs.readFileSync(f,"utf8");
 const nf=map[f]??f; // same folder always
 let u=t.replace(/(["'`])((?:\.{1,2}\/)[^"'`\s]*|[\w-]+\/[^"'`\s]*)\1/g,(all,q,p)=>{const r=p.startsWith(".")?posix.join(posix.dirname(f),p):p;for(const c of [r,r.replace(/\.js$/,".ts")]){if(map[c])return q+p.slice(0,p.lastIndexOf("/")+1)+posix.basename(map[c]).replace(/\.ts$/,p.endsWith(".js")?".js":".ts")+q}return all});
 for(const[a,b]of Object.entries(map)){u=u.split(a).join(b);
  const noPk=s=>s.replace(/^packages\//,"");
  for(const [x,y] of [[noPk(a),noPk(b)],[a.split("/").slice(-2).join("/"),b.split("/").slice(-2).join("/")]])u=u.replace(new RegExp("(?<![\\w./-])"+x.replace(/\./g,"\\.")+"(?![\\w-])","g"),y);
  // test titles: path without extension
  const xa=noPk(a).replace(/\.\w+$/,""),xb=noPk(b).replace(/\.\w+$/,"");if(/\.test\.ts$/.test(f)&&xa.split("/").length>1)u=u.replace(new RegExp('(?<=["`])'+xa+"(?=[\"`:, ])","g"),xb);
  const ba=posix.basename(a);
  if(/\.(sh|py|cjs)$/.test(ba)||ba.includes("-")&&!/\.test\.ts$/.test(ba))u=u.replace(new RegExp("(?<![\\w/.-])"+ba.replace(".","\\.")+"(?![\\w-])","g"),posix.basename(b));
 }
 if(u!==t){fs.writeFileSync(f,u);console.log("edit",f)}}
for(const[a,b]of Object.entries(map))execFileSync("git",["mv",a,b]);
