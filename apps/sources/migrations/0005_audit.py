import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# What was decided stays as it was written; only who decided it is forgotten with their account.
NEVER_CHANGED = """
CREATE FUNCTION sources_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND new.actor_id IS NULL THEN
        old.actor_id := NULL;
        IF new IS NOT DISTINCT FROM old THEN
            RETURN new;
        END IF;
    END IF;
    RAISE EXCEPTION 'The record of what was decided is never changed.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER sources_keep_audit BEFORE UPDATE OR DELETE ON sources_auditentry
    FOR EACH ROW EXECUTE FUNCTION sources_keep_audit();
"""
CHANGED = "DROP TRIGGER sources_keep_audit ON sources_auditentry; DROP FUNCTION sources_keep_audit;"


class Migration(migrations.Migration):

    dependencies = [
        ('sources', '0004_former_addresses'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('place', models.CharField(max_length=60)),
                ('why', models.CharField(blank=True, max_length=300)),
                ('batch', models.UUIDField(null=True)),
                ('source_id', models.BigIntegerField(null=True)),
                ('name', models.CharField(blank=True, max_length=300)),
                ('what', models.CharField(choices=[('weight', 'Weight'), ('state', 'State'), ('listed', 'Shown to everybody'), ('always_retrieved', 'Always asked'), ('category', 'Category'), ('language', 'Language'), ('url', 'Address'), ('merged', 'Merged'), ('deleted', 'Deleted'), ('plan', 'Plan'), ('person', 'Account')], max_length=20)),
                ('before', models.CharField(blank=True, max_length=300)),
                ('after', models.CharField(blank=True, max_length=300)),
                ('actor', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'indexes': [models.Index(fields=['source_id', '-id'], name='audit_of_source'), models.Index(fields=['what', '-id'], name='audit_of_kind'), models.Index(fields=['actor', '-id'], name='audit_of_actor')],
            },
        ),
        migrations.RunSQL(NEVER_CHANGED, CHANGED),
    ]
